// The predefined reasons of reports: their names on the wire and in the REST API, and their stored numbers.

const IDS = {
  violentOrRepulsive: 1,
  hatefulOrAbusive: 2,
  spamOrMisleading: 3,
  privacy: 4,
  rights: 5,
  serverRules: 6,
  thumbnails: 7,
  captions: 8,
} as const

export type PredefinedReason = keyof typeof IDS

export const predefinedReasons = Object.keys(IDS) as PredefinedReason[]

/** The description of the API has another name for the first one. */
const ALIASES: Record<string, number> = { ...IDS, violentOrAbusive: IDS.violentOrRepulsive }

/** Without duplicates and unknown names. */
export const predefinedReasonIds = (names: string[]): number[] => [
  ...new Set(names.flatMap((name) => (Object.hasOwn(ALIASES, name) ? [ALIASES[name] ?? 0] : []))),
]

export const predefinedReasonNames = (ids: number[]): PredefinedReason[] =>
  ids.flatMap((id) => predefinedReasons.filter((name) => IDS[name] === id))
