// What this server may do with what others send it, short of taking it as it is, and the reasons for that. Their names are told to
// moderators, and stand in FEDERATION.md.

/**
 * `refuse`: answered with an error, and not wanted at any time. `later`: answered with 429, and to be sent again. `drop`: taken
 * in without an effect, since the sender did nothing wrong or need not know. `hold`: stored, and shown to nobody until it is
 * approved. `tag`: taken as it is, and marked for readers.
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
  /** Type of the activity, with that of its object where we tell them apart: `Create Note`. */
  kind: string
  /** Of whom it is said to be; the host is that of who sent it, where that is known. */
  host: string
  actorUrl: string | null
  activityId: string | null
}
