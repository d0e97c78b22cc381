// Of what one actor says about one thing the last word counts, in whatever order the words arrive: what is kept of them, and
// which of those that wait are overtaken.

import { createHash } from 'node:crypto'

/**
 * What an activity decides about, as a name that all that decides about it has. `ends`: what it ends for good, a thing by such a
 * name or an activity by its id.
 */
export interface Subject {
  about: string | null
  ends: { thing: string } | { activity: string } | null
}

/** The last words of the same actor about the same thing, with a time that was said and without, and whether they end it. */
export const FINAL_ACTIVITIES = `select max(d.said_at) as "lastSaid", max(d.id) filter (where d.said_at is null) as "lastUnsaid",
    max(d.id) as "lastOfAll", bool_or(d.ended_hash in (i.activity_hash, i.subject_hash)) as "isEnded",
    max(d.received_at) filter (where d.said_at is null and d.ended_hash in (i.activity_hash, i.subject_hash)) as "endedAt"
  from incoming_activity d where d.actor_hash = i.actor_hash and d.state = 'done'
    and (d.subject_hash = i.subject_hash or d.ended_hash in (i.activity_hash, i.subject_hash))`
/** Of `a`: what is taken back by its id alone is about what that activity was about, when that came already. */
const SUBJECT_OF_ENDED = `(select u.subject_hash from incoming_activity u where u.activity_hash = md5(a.ended)::uuid
  and u.actor_hash = md5(a.actor_url)::uuid and u.subject_hash is not null limit 1)`
export const SUBJECT_HASH = `coalesce(md5(a.subject)::uuid, ${SUBJECT_OF_ENDED})`
/** Of `a`: what it ends; an activity that came already is told by what it is about. */
export const ENDED_HASH = `case when a.subject is not null or ${SUBJECT_OF_ENDED} is null then md5(a.ended)::uuid end`

/** A row of the table, as far as its place among the words of its actor goes. */
export interface Word {
  id: number
  activityHash: string
  subjectHash: string | null
  endedHash: string | null
  saidAt: Date | null
  receivedAt: Date
}

/** As `FINAL_ACTIVITIES` gives it. */
export interface FinalActivity {
  lastSaid: Date | null
  lastUnsaid: number | null
  lastOfAll: number | null
  isEnded: boolean | null
  /** When its last end without a time came. */
  endedAt: Date | null
}

/** As in the column `subject_hash`, before hashing. */
export const aboutOf = ({ subject }: { subject: Subject }): string | null => subject.about
/** As in the column `ended_hash`: a name of a thing, or the id of an activity. */
export const endedOf = ({ subject: { ends } }: { subject: Subject }): string | null =>
  ends === null ? null : 'thing' in ends ? ends.thing : ends.activity

interface Words {
  /** Latest time that was said. */
  said: number
  /** Last row that said none. */
  unsaid: number
  /** Last row of all. */
  last: number
  isEnded: boolean
  /** When its last end without a time came. */
  endedAt: number
}

/**
 * For each thing, the last words of its actor about it: in earlier batches, and in this one so far. Times that were said are
 * compared with each other; where one says none, the order of arrival has to do, but what was ended does not begin again unless that
 * was said after the end came.
 * Two of one moment count as they came.
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

/** As PostgreSQL's `md5(text)::uuid`: in the columns of hashes, and the lane of an actor. */
export function hashOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
