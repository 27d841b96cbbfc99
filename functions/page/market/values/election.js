// The candidates of an election as the provider sends it, so every part can be missing.

/** Returns the entries with a name. */
export const list = (value) => (Array.isArray(value) ? value.filter((entry) => entry?.name) : []);

export const votes = (candidate) => (Number.isFinite(candidate.votes) ? candidate.votes : 0);

export const totalOf = (candidates) => candidates.reduce((sum, candidate) => sum + votes(candidate), 0);

/** Returns the candidates, most votes first; in the provider's order while the votes are hidden. */
export const ranked = (election) => list(election?.candidates).sort((a, b) => votes(b) - votes(a));

/**
 * Returns the minister, who came second in the election, with their `perk`, or `null`. With a special mayor there is no minister: none of
 * that mayor's perks is marked as a minister's.
 */
export const ministerOf = (election) => {
  const [winner, second] = ranked(election).map((candidate) => ({ ...candidate, perk: list(candidate.perks).find(({ minister }) => minister) }));
  return winner?.perk && second?.perk && votes(second) > 0 ? second : null;
};
