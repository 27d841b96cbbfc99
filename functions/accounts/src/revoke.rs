//! `revoke_key`. The command changes the table first, because the authorizer decides by the table, and API Gateway only counts requests. If
//! the command is interrupted, a repeated command completes the change.

use common::auth::KeyId;

use crate::access::{Access, now};
use crate::error::Error;
use crate::response::Response;
use crate::view::{KeyView, Note};

pub(crate) async fn run(access: &Access, id: &KeyId) -> Result<Response, Error> {
    tables::access::revoke_key(access.table(), id, now()).await?;
    let key = tables::access::key(access.table(), id).await?.ok_or_else(|| Error::NoKey(id.clone()))?;
    let mut response = Response::of(&KeyView::at(now(), &key))?.about_key(&key.account, id);
    response.notes.extend(delete_from_gateway(access, id).await?);
    Ok(response)
}

/// Deletes the API Gateway key for our key `id`, if there is one.
pub(crate) async fn delete_from_gateway(access: &Access, id: &KeyId) -> Result<Option<Note>, Error> {
    let Some(gateway) = &access.gateway else { return Ok(Some(Note::NoGateway)) };
    let Some(gateway_key) = gateway.find(id).await? else { return Ok(None) };
    let is_deleted = gateway.delete(&gateway_key).await?;
    Ok(Some(if is_deleted { Note::KeyDeletedFromGateway } else { Note::KeySharedInGateway }))
}
