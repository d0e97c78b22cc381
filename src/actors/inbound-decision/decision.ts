// Decisions about incoming activities other than plain acceptance, and their reasons. The names are shown to moderators, and documented in
// FEDERATION.md.

/**
 * `refuse`: error response, never wanted. `later`: 429, to be sent again. `drop`: accepted without an effect, since the sender did nothing
 * wrong or need not know. `hold`: stored, but hidden until approved. `tag`: accepted as it is, and marked for readers.
 */
export const verdicts = ['refuse', 'later', 'drop', 'hold', 'tag'] as const
export type Verdict = (typeof verdicts)[number]

export const reasons = [
  'body_too_large',
  'comment_too_large',
  'blocked_server',
  'blocked_actor',
  'our_own_actor',
  'id_of_another_server',
  'unproven_sender',
  'too_many_activities',
  'too_many_comments',
  'too_many_follows',
  'too_many_announces',
  'too_many_reports',
  'too_many_proofs',
  'too_many_unknown_keys',
  'about_blocked_server',
  'about_blocked_actor',
  'reported_already',
  'needs_approval',
  'held_by_tags',
  'tagged',
  'not_permitted',
] as const
export type Reason = (typeof reasons)[number]

/** A decision about one activity. */
export interface NotedDecision {
  verdict: Verdict
  reason: Reason
  /** Type of the activity, with that of its object if that matters: `Create Note`. */
  kind: string
  /** The claimed actor; the host is that of the sender, if known. */
  host: string
  actorUrl: string | null
  activityId: string | null
}
