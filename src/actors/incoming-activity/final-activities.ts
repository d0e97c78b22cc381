// Finds the final activity of each actor about each object, in whatever order activities arrive: what is stored about it, and which waiting
// activities it overtakes.

import { createHash } from 'node:crypto'

/**
 * What an activity is about, as a key that all activities about it share. `ends`: what it ends for good, an object by such a key or an
 * activity by its id.
 */
export interface Subject {
  about: string | null
  ends: { thing: string } | { activity: string } | null
}

/** SQL: the last activities of the same actor about the same object, with and without a stated time, and whether they end it. */
export const FINAL_ACTIVITIES = `select max(d.said_at) as "lastSaid", max(d.id) filter (where d.said_at is null) as "lastUnsaid",
    max(d.id) as "lastOfAll", bool_or(d.ended_hash in (i.activity_hash, i.subject_hash)) as "isEnded",
    max(d.received_at) filter (where d.said_at is null and d.ended_hash in (i.activity_hash, i.subject_hash)) as "endedAt"
  from incoming_activity d where d.actor_hash = i.actor_hash and d.state = 'done'
    and (d.subject_hash = i.subject_hash or d.ended_hash in (i.activity_hash, i.subject_hash))`
/** SQL for `a`: an activity that ends another one only by id has the subject of that one, if it arrived before. */
const SUBJECT_OF_ENDED = `(select u.subject_hash from incoming_activity u where u.activity_hash = md5(a.ended)::uuid
  and u.actor_hash = md5(a.actor_url)::uuid and u.subject_hash is not null limit 1)`
export const SUBJECT_HASH = `coalesce(md5(a.subject)::uuid, ${SUBJECT_OF_ENDED})`
/** SQL for `a`: what it ends; if the ended activity arrived before, the subject identifies it. */
export const ENDED_HASH = `case when a.subject is not null or ${SUBJECT_OF_ENDED} is null then md5(a.ended)::uuid end`

/** The columns of a row that decide about its order. */
export interface Word {
  id: number
  activityHash: string
  subjectHash: string | null
  endedHash: string | null
  saidAt: Date | null
  receivedAt: Date
}

/** The columns of `FINAL_ACTIVITIES`. */
export interface FinalActivity {
  lastSaid: Date | null
  lastUnsaid: number | null
  lastOfAll: number | null
  isEnded: boolean | null
  /** When the last end without a stated time arrived. */
  endedAt: Date | null
}

/** The column `subject_hash` before hashing. */
export const aboutOf = ({ subject }: { subject: Subject }): string | null => subject.about
/** The column `ended_hash` before hashing: the key of an object, or the id of an activity. */
export const endedOf = ({ subject: { ends } }: { subject: Subject }): string | null =>
  ends === null ? null : 'thing' in ends ? ends.thing : ends.activity

interface Words {
  /** Latest stated time. */
  said: number
  /** Last row without a stated time. */
  unsaid: number
  /** Last row of all. */
  last: number
  isEnded: boolean
  /** When the last end without a stated time arrived. */
  endedAt: number
}

/**
 * Tracks the latest activities per object: of earlier batches, and of this one so far. Stated times are compared with each other. Without a
 * stated time, the order of arrival decides, but an ended object does not begin again unless the stated time is after the arrival of its
 * end. Activities with equal times count in order of arrival.
 */
export function finalActivities(rows: readonly (Word & FinalActivity)[]) {
  const known = new Map<string, Words>()
  const note = (key: string, words: Words): void => {
    const before = known.get(key) ?? NO_WORDS
    known.set(key, {
      said: Math.max(before.said, words.said),
      unsaid: Math.max(before.unsaid, words.unsaid),
      last: Math.max(before.last, words.last),
      isEnded: before.isEnded || words.isEnded,
      endedAt: Math.max(before.endedAt, words.endedAt),
    })
  }
  for (const { id, lastSaid, lastUnsaid, lastOfAll, isEnded, endedAt } of rows) {
    note(`row ${id}`, {
      said: lastSaid?.getTime() ?? 0,
      unsaid: lastUnsaid ?? 0,
      last: lastOfAll ?? 0,
      isEnded: isEnded ?? false,
      endedAt: endedAt?.getTime() ?? 0,
    })
  }
  return {
    overtake({ id, subjectHash, activityHash, endedHash, saidAt }: Word): boolean {
      return [`row ${id}`, subjectHash ?? '', activityHash].some((key) => {
        const { said, unsaid, last, isEnded, endedAt } = known.get(key) ?? NO_WORDS
        const begins = endedHash === null
        if (saidAt !== null) return Math.max(said, begins ? endedAt : 0) > saidAt.getTime() || unsaid > id
        return last > id || (isEnded && begins)
      })
    },
    add({ id, subjectHash, endedHash, saidAt, receivedAt }: Word): void {
      const words = { ...NO_WORDS, said: saidAt?.getTime() ?? 0, unsaid: saidAt === null ? id : 0, last: id }
      if (subjectHash !== null) note(subjectHash, words)
      const endedAt = saidAt === null ? receivedAt.getTime() : 0
      if (endedHash !== null) note(endedHash, { ...words, isEnded: true, endedAt })
    },
  }
}

const NO_WORDS: Words = { said: 0, unsaid: 0, last: 0, isEnded: false, endedAt: 0 }

/** Like PostgreSQL's `md5(text)::uuid`: for the columns of hashes, and the lane of an actor. */
export function hashOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
