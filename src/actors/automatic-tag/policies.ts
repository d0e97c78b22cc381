// The available tags of an account, and those whose comments the account reviews.

import type { Database } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { CORE_TAGS, type ListOwner } from '../watched-words/index.ts'

export interface AvailableTag {
  name: string
  type: 'core' | 'watched-words-list'
}

/** The tags of an owner's lists, by name, and the built-in one. One statement. */
export async function availableTags(db: Pick<Database, 'query'>, ownerId: ListOwner): Promise<AvailableTag[]> {
  const lists = await db.query<{ name: string }>(
    'select name from watched_words_list where account_id is not distinct from $1::int order by name',
    [ownerId],
  )
  return [
    ...lists.map(({ name }) => ({ name, type: 'watched-words-list' as const })),
    ...CORE_TAGS.map((name) => ({ name, type: 'core' as const })),
  ]
}

/** The tags whose comments an account reviews. One statement. */
export async function reviewedTags(db: Pick<Database, 'query'>, accountId: number): Promise<string[]> {
  const [policy] = await db.query<{ review: string[] }>('select review from comment_tag_policy where account_id = $1', [accountId])
  return policy?.review ?? []
}

export type CommentTagPolicies = ReturnType<typeof makeCommentTagPolicies>

export function makeCommentTagPolicies({ tell }: ActorDeps) {
  return {
    /** New comments with these tags on the account's videos need a review. Throws `invalid` for unknown tags. */
    async setReview(accountId: number, names: string[]): Promise<void> {
      const review = [...new Set(names)]
      await tell.create(async (unit) => {
        await refuseUnknown(unit, accountId, review)
        await unit.query(
          `insert into comment_tag_policy (account_id, review, updated_at) values ($1, $2, $3)
           on conflict (account_id) do update set review = excluded.review, updated_at = excluded.updated_at`,
          [accountId, review, unit.now],
        )
      })
    },

    /** Adds one. Returns false if it was set before. Throws `invalid` like above. */
    addReview(accountId: number, name: string): Promise<boolean> {
      return tell.create(async (unit) => {
        await refuseUnknown(unit, accountId, [name])
        const added = await unit.query(
          `insert into comment_tag_policy as p (account_id, review, updated_at) values ($1, array[$2::text], $3)
           on conflict (account_id) do update set review = p.review || excluded.review, updated_at = excluded.updated_at
             where not p.review @> excluded.review
           returning account_id`,
          [accountId, name, unit.now],
        )
        return added.length > 0
      })
    },
  }
}

async function refuseUnknown(unit: Unit, accountId: number, names: readonly string[]): Promise<void> {
  // A list that is removed meanwhile removes its name from this.
  const lists = await unit.query<{ name: string }>(
    'select name from watched_words_list where account_id = $1 and name = any($2) order by id for key share',
    [accountId, names],
  )
  const known = new Set<string>([...CORE_TAGS, ...lists.map(({ name }) => name)])
  const unknown = names.find((name) => !known.has(name))
  if (unknown !== undefined) throw new DomainError('invalid', `${unknown} is no automatic tag of this account.`)
}
