//! The levels of pets.

use std::borrow::Cow;
use std::num::NonZeroU8;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The level of a pet, from 1 to [`PetLevel::HIGHEST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u32")]
pub struct PetLevel(NonZeroU8);

impl PetLevel {
    /// The highest level of any pet. Most pets end at 100.
    pub const HIGHEST: u8 = 200;

    /// Returns the level; `None` if no pet can have it.
    #[must_use]
    pub fn new(level: u32) -> Option<Self> {
        u8::try_from(level).ok().filter(|level| *level <= Self::HIGHEST).and_then(NonZeroU8::new).map(Self)
    }

    #[must_use]
    pub const fn get(self) -> u8 {
        self.0.get()
    }
}

impl From<PetLevel> for u8 {
    fn from(level: PetLevel) -> Self {
        level.get()
    }
}

impl TryFrom<u32> for PetLevel {
    type Error = &'static str;

    fn try_from(level: u32) -> Result<Self, Self::Error> {
        Self::new(level).ok_or("no pet has this level")
    }
}

impl JsonSchema for PetLevel {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PetLevel".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": Self::HIGHEST})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_from_1_to_200_and_is_serialized_as_a_number() {
        let number = |level: u32| serde_json::to_string(&PetLevel::new(level)).unwrap_or_default();
        let levels = [0, 1, 87, 200, 201, 256, u32::MAX].map(number);
        assert_eq!(levels, ["null", "1", "87", "200", "null", "null", "null"]);
        assert_eq!(PetLevel::new(100).map(PetLevel::get), Some(100));
        assert!(PetLevel::new(100) > PetLevel::new(99));
    }
}
