//! The cloud on your machine: API Gateway and Lambda as template.yaml describes them.
