//! The settings that the local cloud reads from a template, and the settings that it refuses.

use std::collections::BTreeMap;
use std::time::Duration;

use local::Error;
use local::template::{Authorizer, CacheKey, Document, Template};

const TEMPLATE: &str = "
Parameters:
  Switch: {Type: String, Default: 'on', AllowedValues: ['on', 'off']}
  Count: {Type: Number, Default: 3}
Conditions:
  IsOn: !Equals [!Ref Switch, 'on']
  IsOff: !Not [!Equals [!Ref Switch, 'on']]
  IsOnHere: !And [!Equals [!Ref Switch, 'on'], !Not [!Equals [!Ref AWS::Region, elsewhere]]]
Globals:
  Function:
    Timeout: 10
    Environment: {Variables: {SHARED: everyone}}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      CacheClusterEnabled: !If [IsOn, true, false]
      MethodSettings:
        - {ResourcePath: /~1v1~1echo, HttpMethod: GET, CachingEnabled: !If [IsOn, true, false], CacheTtlInSeconds: 5}
        - {ResourcePath: /*, HttpMethod: '*', CachingEnabled: true, CacheTtlInSeconds: 60}
        - !If [IsOn, {ResourcePath: /~1sometimes, HttpMethod: GET, CachingEnabled: false}, !Ref AWS::NoValue]
      ApiKeySourceType: AUTHORIZER
      Auth:
        DefaultAuthorizer: Keys
        ApiKeyRequired: true
        Authorizers:
          Keys:
            FunctionPayloadType: REQUEST
            FunctionArn: !GetAtt KeyFunction.Arn
            Identity: {Headers: [X-API-Key], ReauthorizeEvery: 60}
      GatewayResponses:
        DEFAULT_5XX:
          StatusCode: 500
          ResponseParameters: {Headers: {Retry-After: \"'5'\"}}
          ResponseTemplates: {application/json: '{\"success\":false}'}
  KeyFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: keys}}
  EchoFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: echo}}
    Properties:
      Timeout: !Ref Count
      Environment:
        Variables:
          OWN: !Sub 'is ${Switch} in ${AWS::StackName}'
          TABLE: !Ref Table
          ARNS: !Sub '${Table.Arn} ${KeyFunction.Arn}'
          REGION: !If [IsOff, !Ref AWS::Region, !Ref AWS::NoValue]
          GONE: !If [IsOn, 'here', !Ref AWS::NoValue]
          QUEUE: !Ref Queue
          STARTER_PLAN: !Ref Starter
          TRIAL_PLAN: !If [IsOn, !Ref Trial, '']
      Policies: [!GetAtt Table.Arn, !GetAtt Queue.Arn]
      EventInvokeConfig: {MaximumEventAgeInSeconds: 120}
      Events:
        Get:
          Type: Api
          Properties:
            Path: /v1/echo
            Method: get
            RequestParameters:
              - method.request.querystring.mode: {Required: false, Caching: true}
              - method.request.querystring.unread: {Required: false, Caching: false}
              - method.request.header.X-Mode: {Required: false, Caching: true}
        Every: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), Input: '{}'}}
        Daily: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 day), Input: '{}', State: !If [IsOn, ENABLED, DISABLED]}}
        Kept: {Type: Api, Properties: {Path: /kept, Method: GET, Auth: {ApiKeyRequired: false}}}
        Open: {Type: Api, Properties: {Path: '/{proxy+}', Method: ANY, Auth: {Authorizer: NONE, ApiKeyRequired: false}}}
  SometimesFunction:
    Type: AWS::Serverless::Function
    Condition: IsOnHere
    Metadata: {BuildProperties: {Binary: sometimes}}
    Properties: {Events: {Get: {Type: Api, Properties: {Path: /sometimes, Method: GET}}}}
  Queue: {Type: AWS::SQS::Queue}
  Pro:
    Type: AWS::ApiGateway::UsagePlan
    Properties:
      Throttle: {RateLimit: 0.5, BurstLimit: '150'}
      Tags: [{Key: owner, Value: us}, {Key: tier, Value: pro}]
  Starter:
    Type: AWS::ApiGateway::UsagePlan
    Properties: {Tags: [{Key: tier, Value: starter}]}
  Trial:
    Type: AWS::ApiGateway::UsagePlan
    Condition: IsOn
    Properties: {Tags: [{Key: tier, Value: trial}]}
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
";

fn evaluate(text: &str, parameters: &[(&str, &str)]) -> Result<Template, Error> {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Document::parse(text)?.evaluate(&parameters.collect())
}

#[test]
fn a_function_inherits_globals_and_adds_its_own() {
    let template = evaluate(TEMPLATE, &[("Switch", "off")]).unwrap();
    let function = &template.functions["EchoFunction"];
    assert_eq!((function.binary.as_str(), function.timeout), ("echo", Duration::from_secs(3)));
    let environment: Vec<_> =
        function.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let arns = "arn:aws:dynamodb:eu-central-1:123456789012:table/Table \
                arn:aws:lambda:eu-central-1:123456789012:function:KeyFunction";
    let expected = [
        ("ARNS", arns),
        ("OWN", "is off in local"),
        ("QUEUE", "Queue"),
        ("REGION", "eu-central-1"),
        ("SHARED", "everyone"),
        ("STARTER_PLAN", "Starter"),
        ("TABLE", "Table"),
        ("TRIAL_PLAN", ""),
    ];
    assert_eq!(environment, expected);
    let [schedule] = function.schedules.as_slice() else { panic!("{:?}", function.schedules) };
    assert_eq!((schedule.name.as_str(), schedule.period), ("Every", Duration::from_mins(1)));
    assert_eq!((schedule.max_age, schedule.max_retries), (Duration::from_mins(2), 2));
}

#[test]
fn a_route_has_its_own_cache_settings_or_those_for_all_gets() {
    let api = evaluate(TEMPLATE, &[]).unwrap().api;
    let settings: Vec<_> =
        api.routes.iter().map(|route| (route.path.as_str(), route.caching, route.cache_ttl)).collect();
    let expected = [
        ("/kept", true, Some(Duration::from_mins(1))),
        ("/sometimes", false, None),
        ("/v1/echo", true, Some(Duration::from_secs(5))),
        ("/{proxy+}", false, None),
    ];
    assert_eq!(settings, expected);
    assert_eq!((api.routes[2].method.as_str(), api.cache_enabled), ("GET", true));
    let cache_keys = [CacheKey::Query("mode".to_owned()), CacheKey::Header("x-mode".to_owned())];
    assert_eq!(api.routes[2].cache_keys, cache_keys);
    assert!(!evaluate(TEMPLATE, &[("Switch", "off")]).unwrap().api.cache_enabled);
}

#[test]
fn a_route_has_the_default_authorizer_unless_it_has_its_own() {
    let api = evaluate(TEMPLATE, &[]).unwrap().api;
    let protection: Vec<_> =
        api.routes.iter().map(|route| (route.authorizer.as_deref(), route.key_required)).collect();
    assert_eq!(
        protection,
        [(Some("Keys"), false), (Some("Keys"), true), (Some("Keys"), true), (None, false)]
    );
    let expected = Authorizer {
        function: "KeyFunction".to_owned(),
        identity_header: "X-API-Key".to_owned(),
        reauthorize_every: Duration::from_mins(1),
    };
    assert_eq!(api.authorizers, BTreeMap::from([("Keys".to_owned(), expected)]));
}

#[test]
fn a_resource_whose_condition_does_not_hold_does_not_exist() {
    for (switch, exists) in [("on", true), ("off", false)] {
        let template = evaluate(TEMPLATE, &[("Switch", switch)]).unwrap();
        assert_eq!(template.functions.contains_key("SometimesFunction"), exists);
        assert_eq!(template.api.routes.iter().any(|route| route.path == "/sometimes"), exists);
        assert_eq!(template.usage_plans.iter().any(|plan| plan.logical_id == "Trial"), exists);
        let plan = if exists { "Trial" } else { "" };
        assert_eq!(template.functions["EchoFunction"].environment["TRIAL_PLAN"], plan);
    }
}

#[test]
fn a_table_has_its_own_name_or_its_logical_id() {
    let named = TEMPLATE
        .replace("      KeySchema", "      TableName: !Sub '${AWS::StackName}-rows'\n      KeySchema");
    for (text, name) in [(TEMPLATE, "Table"), (&named, "local-rows")] {
        let table = &evaluate(text, &[]).unwrap().tables["Table"];
        assert_eq!((table.name.as_str(), table.time_to_live.as_deref()), (name, Some("ttl")));
        assert_eq!(table.definition["KeySchema"][0]["AttributeName"], "pk");
    }
}

#[test]
fn an_invalid_parameter_is_refused_with_what_is_allowed() {
    for (name, value, allowed) in
        [("Switsch", "on", "Count, Switch"), ("Switch", "maybe", "on, off"), ("Count", "few", "number")]
    {
        let message = evaluate(TEMPLATE, &[(name, value)]).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(allowed), "{message}");
    }
}

/// Panics unless each change makes the template invalid, and the error names the place.
#[track_caller]
fn expect_refused(changes: &[(&str, &str, &str)]) {
    for (right, wrong, place) in changes {
        assert!(TEMPLATE.contains(right), "{right}");
        let message = evaluate(&TEMPLATE.replace(right, wrong), &[]).unwrap_err().to_string();
        assert!(message.contains(&format!("{place}: ")), "{wrong}: {message}");
    }
}

#[test]
fn an_invalid_template_is_refused_with_the_place() {
    expect_refused(&[
        ("Timeout: !Ref Count", "Timeout: soon", "EchoFunction.Properties.Timeout"),
        ("Timeout: !Ref Count", "Timeout: !Ref Nothing", "EchoFunction.Properties.Timeout"),
        ("Timeout: !Ref Count", "Timeout: 0", "EchoFunction.Properties.Timeout"),
        ("{Binary: echo}", "{}", "EchoFunction.Metadata.BuildProperties.Binary"),
        ("Path: /v1/echo", "Way: /v1/echo", "EchoFunction.Properties.Events.Get.Properties.Path"),
        ("rate(1 minute)", "cron(0 12 * * ? *)", "Events.Every.Properties.ScheduleExpression"),
        ("StageName: live", "Name: live", "Api.Properties.StageName"),
        (
            "/~1v1~1echo, HttpMethod: GET",
            "/~1v1~1gone, HttpMethod: GET",
            "Api.Properties.MethodSettings[0].ResourcePath",
        ),
        ("CacheTtlInSeconds: 60", "CacheTtlInSeconds: 3601", "MethodSettings[1].CacheTtlInSeconds"),
        ("StageName: live", "StageName: live\n      Cors: {}", "Api.Properties.Cors"),
        ("Caching: true", "Cache: true", "RequestParameters[0].method.request.querystring.mode.Cache"),
        ("querystring.mode:", "cookie.mode:", "RequestParameters[0].method.request.cookie.mode"),
        ("querystring.mode:", "header.a b:", "RequestParameters[0].method.request.header.a b"),
        ("Type: AWS::Serverless::Api", "Type: AWS::ApiGateway::RestApi", "Resources"),
        ("StatusCode: 500", "StatusCode: 5000", "GatewayResponses.DEFAULT_5XX.StatusCode"),
        ("{\"success\":false}", "$context.requestId", "DEFAULT_5XX.ResponseTemplates.application/json"),
        ("\"'5'\"", "method.request.header.a", "DEFAULT_5XX.ResponseParameters.Headers.Retry-After"),
        ("Path: /kept", "Path: /v1/echo", "EchoFunction.Properties.Events"),
        ("Condition: IsOnHere", "Condition: IsNot", "SometimesFunction.Condition"),
        ("Condition: IsOnHere", "Condition: !Ref Switch", "SometimesFunction.Condition"),
        ("!Equals [!Ref Switch, 'on']", "!Equals [!Ref Switch]", "SometimesFunction.Condition"),
        ("!Equals [!Ref Switch, 'on']", "!Equals [!If [IsOn, a, b], a]", "SometimesFunction.Condition"),
        ("!Equals [!Ref Switch, 'on']", "!Equals [[a], a]", "SometimesFunction.Condition"),
        ("[IsOn, true, false], C", "[IsNot, true, false], C", "Properties.MethodSettings[0].CachingEnabled"),
        (
            "TABLE: !Ref Table",
            "TABLE: !GetAtt Queue.Arn",
            "EchoFunction.Properties.Environment.Variables.TABLE",
        ),
        ("TABLE: !Ref Table", "TABLE: !Sub '${Open'", "EchoFunction.Properties.Environment.Variables.TABLE"),
        ("TABLE: !Ref Table", "TABLE: !Reff Table", "the top level"),
        ("TABLE: !Ref Table", "OWN: twice", "the top level"),
        ("KeySchema:", "Schema:", "Table.Properties.KeySchema"),
        ("Definitions:", "Names:", "Table.Properties.AttributeDefinitions"),
        ("{AttributeName: ttl,", "{Name: ttl,", "Table.Properties.TimeToLiveSpecification.AttributeName"),
        ("[{Key: tier, Value: starter}]", "[]", "Starter.Properties.Tags"),
        ("Value: starter", "Value: pro", "Starter.Properties.Tags"),
        (", BurstLimit: '150'", "", "Pro.Properties.Throttle.BurstLimit"),
        ("'150'", "4294967296", "Pro.Properties.Throttle.BurstLimit"),
        ("RateLimit: 0.5", "RateLimit: -1", "Pro.Properties.Throttle.RateLimit"),
        ("RateLimit: 0.5", "RateLimit: inf", "Pro.Properties.Throttle.RateLimit"),
    ]);
}

#[test]
fn an_invalid_authorizer_is_refused_with_the_place() {
    expect_refused(&[
        ("DefaultAuthorizer: Keys", "DefaultAuthorizer: Locks", "Events.Get.Properties.Auth"),
        ("DefaultAuthorizer: Keys", "DefaultAuthoriser: Keys", "Auth.DefaultAuthoriser"),
        ("REQUEST", "TOKEN", "Auth.Authorizers.Keys.FunctionPayloadType"),
        ("!GetAtt KeyFunction.Arn", "someone", "Auth.Authorizers.Keys.FunctionArn"),
        ("[X-API-Key]", "[]", "Auth.Authorizers.Keys.Identity.Headers"),
        ("[X-API-Key]", "['a b']", "Auth.Authorizers.Keys.Identity.Headers"),
        ("Headers: [", "QueryStrings: [", "Keys.Identity.QueryStrings"),
        ("ReauthorizeEvery: 60", "ReauthorizeEvery: 3601", "Keys.Identity.ReauthorizeEvery"),
        ("ApiKeySourceType: AUTHORIZER", "ApiKeySourceType: HEADER", "Events.Get.Properties.Auth"),
        ("Authorizer: NONE, ApiKeyRequired: false", "Authorizer: NONE", "Events.Open.Properties.Auth"),
        ("Authorizer: NONE", "Authoriser: NONE", "Events.Open.Properties.Auth.Authoriser"),
    ]);
}
