//! Players' profiles. They follow from the UUID, so no state is needed.

use fastrand::Rng;

use crate::chance::{self, base64_text, dashed, generator, magnitude, pick, some, text_hash};
use crate::gson::{self, Writer};
use crate::names;
use crate::words::{CREATURES, ESSENCES, FRONT_WORDS, MATERIALS, TOWNSFOLK};

/// Time between two states of a profile, in milliseconds.
pub const REFRESH_MS: i64 = 60_000;

/// The game's first day in Unix milliseconds, the earliest possible join.
const FIRST_DAY_MS: i64 = 1_560_275_700_000;

const FRUIT: &[&str] =
    &["Apple", "Banana", "Blueberry", "Coconut", "Grapes", "Kiwi", "Lemon", "Mango", "Raspberry", "Tomato"];

const SKILLS: &[&str] =
    &["FARMING", "MINING", "COMBAT", "FORAGING", "FISHING", "ENCHANTING", "ALCHEMY", "TAMING", "CARPENTRY"];

const BOSSES: &[&str] = &["zombie", "spider", "wolf", "enderman", "blaze", "vampire"];

const ZONES: &str = "village mine colosseum auction_house bazaar_alley gold_mine deep_caverns farm tavern";

/// Returns the time of the refresh that is visible at `now_ms`, in Unix milliseconds. The provider does not
/// report it.
#[must_use]
pub fn refreshed_at(now_ms: i64) -> i64 {
    now_ms.div_euclid(REFRESH_MS) * REFRESH_MS
}

/// The body of `/v2/skyblock/profiles` at `now_ms` for `uuid` (32 lower-case hexadecimal digits).
#[must_use]
pub fn body(seed: u64, uuid: &str, now_ms: i64) -> String {
    let is = |name| names::uuid(seed, name).as_deref() == Some(uuid);
    if !names::is_player(seed, uuid) || is(names::NEVER_PLAYED) {
        return gson::object(64, |root| {
            root.key("success").boolean(true);
            root.key("profiles").null();
        });
    }
    let rng = &mut generator(seed, "profiles", text_hash(uuid));
    let (size, profiles) = if is(names::LEVIATHAN) {
        (8_300_000, 4)
    } else if is(names::WHALE) {
        (3_500_000, 3)
    } else {
        (28_000 + rng.usize(..400) * rng.usize(..400), rng.usize(1..=4))
    };
    let player = Player { seed, uuid, now_ms: refreshed_at(now_ms) };
    let selected = rng.usize(..profiles);
    let tells_selected = rng.u32(..10) > 0;
    gson::object(size + (16 << 10), |root| {
        root.key("success").boolean(true);
        root.key("profiles").array(|list| {
            for number in 0..profiles {
                let is_selected = tells_selected.then_some(number == selected);
                list.object(|profile| player.write_profile(rng, size / profiles, is_selected, profile));
            }
        });
    })
}

struct Player<'a> {
    seed: u64,
    uuid: &'a str,
    now_ms: i64,
}

impl Player<'_> {
    fn write_profile(&self, rng: &mut Rng, size: usize, is_selected: Option<bool>, profile: &mut Writer) {
        let mut members = vec![self.uuid.to_owned()];
        if rng.bool() {
            let friends = rng.usize(1..=3);
            members.extend((0..friends).map(|_| names::identity(self.seed, rng.u64(..))));
        }
        rng.shuffle(&mut members);
        let created_at = rng.i64(FIRST_DAY_MS..1_735_000_000_000).min(self.now_ms);
        profile.key("profile_id").string(&dashed(&chance::uuid(rng)));
        match rng.u32(..4) {
            0 => profile.key("community_upgrades").null(),
            1 => profile.key("community_upgrades").object(|upgrades| {
                upgrades.key("currently_upgrading").null();
                upgrades.key("upgrade_states").array(|_| {});
            }),
            _ => {}
        }
        if rng.bool() {
            profile.key("created_at").integer(created_at);
        }
        if rng.u32(..8) == 0 {
            profile.key("game_mode").string(pick(rng, &["ironman", "island", "bingo"]));
        }
        let share = size / members.len();
        profile.key("members").object(|list| {
            for member in &members {
                list.key(member).object(|row| self.write_member(rng, member, created_at, share, row));
            }
        });
        if rng.u32(..5) > 0 {
            profile.key("banking").object(|banking| self.write_banking(rng, banking));
        }
        profile.key("cute_name").string(pick(rng, FRUIT));
        if let Some(is_selected) = is_selected {
            profile.key("selected").boolean(is_selected);
        }
    }

    fn write_banking(&self, rng: &mut Rng, banking: &mut Writer) {
        banking.key("balance").double(magnitude(rng, 1e-11, 2e9));
        banking.key("transactions").array(|list| {
            for age in (1..=rng.i64(1..=12)).rev() {
                list.object(|row| {
                    row.key("amount").double(magnitude(rng, 10.0, 1e8));
                    row.key("timestamp").integer(self.now_ms - age * 3_700_000);
                    row.key("action").string(if rng.bool() { "DEPOSIT" } else { "WITHDRAW" });
                    row.key("initiator_name").string(&format!("§b{}", pick(rng, &TOWNSFOLK)));
                });
            }
        });
    }

    fn write_member(&self, rng: &mut Rng, uuid: &str, joined_at: i64, size: usize, member: &mut Writer) {
        let end = member.written() + size;
        // Progress grows with the time since the player joined.
        let played = ((self.now_ms - joined_at) as f64 / 3e10).clamp(0.01, 4.0);
        write_player_data(rng, played, member);
        if rng.u32(..9) > 1 {
            member.key("leveling").object(|leveling| {
                leveling.key("experience").integer((played * magnitude(rng, 10.0, 12_000.0)) as i64);
                leveling.key("completed_tasks").array(|_| {});
            });
        }
        member.key("player_id").string(&dashed(uuid));
        member.key("profile").object(|profile| {
            profile.key("first_join").integer(joined_at);
            if rng.u32(..10) == 0 {
                profile
                    .key("deletion_notice")
                    .object(|notice| notice.key("timestamp").integer(self.now_ms - 1_000_000));
            }
            profile.key("cookie_buff_active").boolean(rng.bool());
        });
        write_progress(rng, played, member);
        write_pets(rng, played, member);
        if rng.u32(..6) > 0 {
            member.key("collection").object(|collection| {
                for (id, _) in some(rng, MATERIALS.iter().flat_map(|(_, list)| list)) {
                    collection.key(id).integer((played * magnitude(rng, 1.0, 5e7)) as i64);
                }
            });
        }
        // As in real profiles, contests, bags and objectives fill the remaining size.
        write_contests(rng, end, member);
        write_inventory(rng, end, member);
        write_objectives(rng, joined_at, end, member);
    }
}

fn write_player_data(rng: &mut Rng, played: f64, member: &mut Writer) {
    member.key("player_data").object(|data| {
        data.key("visited_zones").strings(ZONES.split(' '));
        data.key("last_death").integer(rng.i64(0..200_000_000));
        data.key("active_effects").array(|_| {});
        data.key("death_count").integer(rng.i64(0..5_000));
        // Absent if the player disabled this part of the API.
        if rng.u32(..6) > 0 {
            data.key("experience").object(|experience| {
                for skill in SKILLS {
                    experience.key(&format!("SKILL_{skill}")).double(played * magnitude(rng, 10.0, 5e7));
                }
            });
        }
        data.key("unlocked_coll_tiers").array(|tiers| {
            for (_, materials) in MATERIALS.iter() {
                for (id, _) in some(rng, materials) {
                    tiers.string(&format!("{id}_{}", rng.i64(-1..10)));
                }
            }
        });
    });
}

/// Writes contests that fill a quarter of the space up to `end`.
fn write_contests(rng: &mut Rng, end: usize, member: &mut Writer) {
    member.key("jacobs_contest").object(|contest| {
        contest.key("medals_inv").object(|medals| medals.key("gold").integer(rng.i64(0..50)));
        contest.key("contests").object(|contests| {
            let until = contests.written() + end.saturating_sub(contests.written()) / 4;
            let mut year = 600;
            while contests.written() < until {
                year -= 1;
                let key = format!("{year}:{}_{}:WHEAT", rng.i64(1..13), rng.i64(1..32));
                contests.key(&key).object(|row| {
                    row.key("collected").integer(rng.i64(100..900_000));
                    row.key("claimed_position").integer(rng.i64(1..5_000));
                    row.key("claimed_participants").integer(rng.i64(5_000..20_000));
                });
            }
        });
    });
}

fn write_inventory(rng: &mut Rng, end: usize, member: &mut Writer) {
    member.key("inventory").object(|inventory| {
        for bag in ["inv_contents", "ender_chest_contents", "inv_armor"] {
            let left = end.saturating_sub(inventory.written());
            inventory.key(bag).object(|contents| {
                contents.key("type").integer(0);
                contents.key("data").string(&format!("H4sIAAAAAAAA/{}", base64_text(rng, left * 3 / 10)));
            });
        }
    });
}

/// Writes objectives until the member has its size.
fn write_objectives(rng: &mut Rng, joined_at: i64, end: usize, member: &mut Writer) {
    member.key("objectives").object(|objectives| {
        let mut number = 0;
        while number == 0 || objectives.written() < end {
            number += 1;
            objectives.key(&format!("talk_to_stranger_{number}")).object(|row| {
                row.key("status").string(if rng.bool() { "COMPLETE" } else { "ACTIVE" });
                row.key("progress").integer(rng.i64(-1..10));
                row.key("completed_at").integer(joined_at + number * 86_000);
            });
        }
    });
}

fn write_progress(rng: &mut Rng, played: f64, member: &mut Writer) {
    if rng.u32(..8) > 0 {
        member.key("currencies").object(|currencies| {
            currencies.key("coin_purse").double(match rng.u32(..20) {
                0 => 2.887_645_678_129_047e-11,
                1 => -620.0,
                _ => magnitude(rng, 1.0, 1.3e9),
            });
            currencies.key("essence").object(|essence| {
                for name in ESSENCES.iter() {
                    essence.key(name).object(|row| {
                        if rng.u32(..4) > 0 {
                            row.key("current").integer(rng.i64(0..200_000));
                        }
                    });
                }
            });
        });
    }
    if rng.u32(..5) > 0 {
        member.key("dungeons").object(|dungeons| {
            dungeons.key("dungeon_types").object(|types| {
                types.key("catacombs").object(|catacombs| {
                    if rng.u32(..3) > 0 {
                        catacombs.key("experience").double(played * magnitude(rng, 50.0, 5e8));
                    }
                    catacombs.key("tier_completions").object(|_| {});
                });
                types.key("master_catacombs").object(|_| {});
            });
            dungeons
                .key("selected_dungeon_class")
                .string(pick(rng, &["healer", "mage", "berserk", "archer", "tank"]));
        });
    }
    member.key("slayer").object(|slayer| {
        slayer.key("slayer_bosses").object(|bosses| {
            for boss in BOSSES {
                bosses.key(boss).object(|row| {
                    row.key("claimed_levels").object(|_| {});
                    // Absent until the first kill.
                    if rng.u32(..5) == 0 {
                        row.key("xp").integer((played * magnitude(rng, 5.0, 2e6)) as i64);
                    }
                });
            }
        });
    });
    member.key("player_stats").object(|stats| {
        stats.key("kills").object(|kills| {
            for creature in some(rng, CREATURES.iter()) {
                kills.key(&creature.to_lowercase()).double(magnitude(rng, 1.0, 1e6).floor());
            }
        });
        stats.key("highest_critical_damage").double(magnitude(rng, 100.0, 1e9));
    });
    member.key("fairy_soul").object(|souls| souls.key("total_collected").integer(rng.i64(0..268)));
    member.key("quests").object(|_| {});
}

fn write_pets(rng: &mut Rng, played: f64, member: &mut Writer) {
    member.key("pets_data").object(|data| {
        data.key("pets").array(|pets| {
            for number in 0..rng.usize(0..=12) {
                pets.object(|pet| {
                    if rng.bool() {
                        pet.key("uuid").string(&dashed(&chance::uuid(rng)));
                    } else {
                        pet.key("uuid").null();
                    }
                    pet.key("type").string(pick(rng, &CREATURES));
                    pet.key("exp").double(played * magnitude(rng, 1.0, 3e7));
                    pet.key("active").boolean(number == 0);
                    pet.key("tier").string(pick(rng, &["COMMON", "RARE", "EPIC", "LEGENDARY", "MYTHIC"]));
                    if rng.bool() {
                        pet.key("heldItem").string(&format!("PET_ITEM_{}", pick(rng, &FRONT_WORDS)));
                    } else {
                        pet.key("heldItem").null();
                    }
                    pet.key("candyUsed").integer(rng.i64(0..10));
                    pet.key("skin").null();
                });
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const NOW_MS: i64 = 1_790_000_000_000;

    fn answer(name: &str) -> (usize, Value) {
        let text = body(1, &names::uuid(1, name).unwrap(), NOW_MS);
        (text.len(), serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn normal_players_have_one_to_four_profiles_that_hold_the_player() {
        let mut coop = 0;
        let mut unselected = 0;
        for number in 0..60 {
            let name = format!("player_{number}");
            let uuid = names::uuid(1, &name).unwrap();
            let (size, parsed) = answer(&name);
            assert!((20_000..210_000).contains(&size), "{name} has {size} bytes");
            let profiles = parsed["profiles"].as_array().unwrap();
            assert!((1..=4).contains(&profiles.len()));
            let selected = profiles.iter().filter(|profile| profile["selected"] == true).count();
            let silent = profiles.iter().filter(|profile| profile.get("selected").is_none()).count();
            assert!(selected == 1 || silent == profiles.len());
            unselected += usize::from(selected == 0);
            for profile in profiles {
                assert_eq!(profile["profile_id"].as_str().unwrap().len(), 36);
                let members = profile["members"].as_object().unwrap();
                coop += usize::from(members.len() > 1);
                assert_eq!(members[&uuid]["player_id"], dashed(&uuid));
                assert!(members.keys().all(|member| names::is_player(1, member)));
            }
        }
        assert!(coop > 10 && unselected > 0, "{coop} {unselected}");
    }

    #[test]
    fn special_players_have_their_sizes() {
        assert_eq!(answer(names::NEVER_PLAYED).1, serde_json::json!({"success": true, "profiles": null}));
        let (whale, _) = answer(names::WHALE);
        assert!((3_300_000..3_800_000).contains(&whale), "{whale}");
        let (leviathan, _) = answer(names::LEVIATHAN);
        assert!((7_800_000..8_800_000).contains(&leviathan), "{leviathan}");
    }

    #[test]
    fn an_unknown_uuid_has_no_profiles() {
        let text = body(1, "a937646bf11544c38dbf9ae4a65669a0", NOW_MS);
        assert_eq!(text, r#"{"success":true,"profiles":null}"#);
    }
}
