// Lists of watched words, of the instance and of accounts. Texts written or edited from now on are tagged with the names of the lists whose
// words they contain.

import { isUniqueViolation } from '../../platform/database/index.ts'
import { makeKeyedLimit } from '../../platform/keyed-limit.ts'
import { makeTimeSlices } from '../../platform/time-slices.ts'
import { removeFromPolicy, renameInPolicy } from '../automatic-tag/automatic-tag.writes.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import { TooComplex } from './expressions.ts'
import { compileWords, LARGEST_OF_ACCOUNT, LARGEST_OF_INSTANCE } from './word-list.ts'

/** The owner of a list: an account, or null for the instance. */
export type ListOwner = number | null

export interface NewWatchedWords {
  name: string
  words: string[]
}

/** Built-in tags. */
export const CORE_TAGS = ['external-link'] as const

/** Per owner. */
const MAX_LISTS = 100
/** Lists of one owner that are being compiled or wait for it. */
const MAX_AT_ONCE = 10

export type WatchedWords = ReturnType<typeof makeWatchedWords>

export function makeWatchedWords({ tell }: Pick<ActorDeps, 'tell'>) {
  /** One list of an owner after another: concurrent ones would use too much processor time. */
  const turns = makeKeyedLimit<ListOwner>(1)

  /** Before the transaction: compiling many words takes long. */
  async function sizeOf(ownerId: ListOwner, { name, words }: NewWatchedWords): Promise<number> {
    if (CORE_TAGS.some((tag) => tag === name)) throw nameTaken(name)
    if (turns.size(ownerId) >= MAX_AT_ONCE) {
      throw new DomainError('too_many', 'Your other lists are not ready yet: please send this one again later.')
    }
    try {
      return (await turns.run(ownerId, () => compileWords(words, makeTimeSlices()))).size
    } catch (error) {
      if (error instanceof TooComplex) throw tooComplex(`Too complex to be looked for: ${error.message.slice(0, 200)}`)
      throw error
    }
  }

  return {
    /**
     * Returns the id. Throws `invalid` for a taken name, and for words that are too slow to match; `too_many` if the owner has too many
     * pending lists.
     */
    async add(ownerId: ListOwner, list: NewWatchedWords): Promise<number> {
      const size = await sizeOf(ownerId, list)
      return await tell.create(async (unit) => {
        await assertRoom(unit, ownerId, { size })
        const [added] = await unit.query<{ id: number }>(
          `insert into watched_words_list (account_id, name, words, size, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $5) on conflict do nothing returning id`,
          [ownerId, list.name, list.words, size, unit.now],
        )
        if (!added) throw nameTaken(list.name)
        noteList(unit, ownerId, 'create', { id: added.id, ...list })
        return added.id
      })
    },

    /** Throws `not_found`, and like `add`. */
    async update(ownerId: ListOwner, listId: number, list: NewWatchedWords): Promise<void> {
      const size = await sizeOf(ownerId, list)
      try {
        await tell.create(async (unit) => {
          const [was] = await unit.query<{ name: string }>(
            `select name from watched_words_list where id = $1 and ${isOf('$2')} for no key update`,
            [listId, ownerId],
          )
          if (!was) throw unknownList()
          await assertRoom(unit, ownerId, { size, listId })
          await unit.query(
            `update watched_words_list set name = $2, words = $3, size = $4, version = version + 1, updated_at = $5
             where id = $1`,
            [listId, list.name, list.words, size, unit.now],
          )
          noteList(unit, ownerId, 'update', { id: listId, ...list })
          if (ownerId === null || was.name === list.name) return
          await renameInPolicy(unit.query, ownerId, was.name, list.name)
        })
      } catch (error) {
        if (isUniqueViolation(error)) throw nameTaken(list.name)
        throw error
      }
    },

    /** Throws `not_found`. */
    async remove(ownerId: ListOwner, listId: number): Promise<void> {
      await tell.create(async (unit) => {
        const [gone] = await unit.query<NewWatchedWords>(
          `delete from watched_words_list where id = $1 and ${isOf('$2')} returning name, words`,
          [listId, ownerId],
        )
        if (!gone) throw unknownList()
        noteList(unit, ownerId, 'delete', { id: listId, ...gone })
        if (ownerId === null) return
        await removeFromPolicy(unit.query, ownerId, gone.name)
      })
    },
  }
}

/** For the audit log; lists of accounts are private. */
function noteList(
  unit: Unit,
  ownerId: ListOwner,
  action: 'create' | 'update' | 'delete',
  { id, name, words }: NewWatchedWords & { id: number },
): void {
  if (ownerId !== null) return
  unit.note({ domain: 'watched-words', action, id, entity: { id, listName: name, words: words.length } })
}

const isOf = (owner: string): string => `account_id is not distinct from ${owner}::int`

async function assertRoom(unit: Unit, ownerId: ListOwner, of: { size: number; listId?: number }): Promise<void> {
  const { size, listId = null } = of
  const [others] = await unit.query<{ lists: number; size: number }>(
    `select count(*)::int as lists, coalesce(sum(size), 0)::int as size from watched_words_list
     where ${isOf('$1')} and id is distinct from $2`,
    [ownerId, listId],
  )
  if ((others?.lists ?? 0) >= MAX_LISTS) throw new DomainError('invalid', `There are ${MAX_LISTS} lists already.`)
  if ((others?.size ?? 0) + size > (ownerId === null ? LARGEST_OF_INSTANCE : LARGEST_OF_ACCOUNT))
    throw tooComplex('All lists together take too long to be looked for')
}

const unknownList = () => notFound('There is no such list of watched words.')

const nameTaken = (name: string) => new DomainError('invalid', `There is a list called ${name} already.`)

const tooComplex = (msg: string) => new DomainError('invalid', msg, { invalidParams: [{ name: 'words', location: 'body', msg }] })
