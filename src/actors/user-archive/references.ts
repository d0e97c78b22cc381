// Resolves the addresses of videos in an archive: imported objects, local rows, or the video on its own server, with the same rights as a
// search for the address.

import { performance } from 'node:perf_hooks'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { notFound } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { userRoles } from '../user/index.ts'
import { assertMaySee, findVideoAccess } from '../video/index.ts'
import type { ImportContext } from './import-context.ts'
import { findImported } from './imported-objects.ts'

/** Returns the row id of what a text names; with `fetch`, other servers are asked. Undefined if they take too long. */
export type ResolveRemote = (text: string, options: { fetch: boolean }) => Promise<number | undefined>

export interface References {
  /** Throws `not_found`, `forbidden`. */
  video(url: string, context: ImportContext): Promise<number>
  /** Finds an account by its handle, `name@host`. Throws `not_found`. */
  account(handle: { name: string; host: string }, context: ImportContext): Promise<number>
}

const LONGEST_ADDRESS = 2000
/** A response that takes longer than this is slow, in ms: an archive may cause thousands. */
const SLOW = 1000
/** After this many slow responses in a row, a server is not asked again in this run of the import. */
const MAX_SLOW = 3
/** The same after this many failed look-ups, if more fail than succeed: such a list is not a user's history. */
const MAX_MISSED = 100
/** Limit of requests to one server: an archive must not fetch a whole server. */
const MAX_ASKED = 5_000
/** Factor for the limits of all servers together, since many names may belong to one server. */
const OF_ALL = 10

/** Statistics of a server, or of all, in a run of an import. */
interface Met {
  asked: number
  missed: number
  /** Slow responses in a row. */
  slow: number
}

export function makeReferences(deps: {
  db: Pick<Database, 'query'>
  config: () => Config
  resolveRemote: { video: ResolveRemote; account: ResolveRemote }
}): References {
  const { db, config, resolveRemote } = deps
  /** Keyed by the servers that a run of an import contacted. */
  const runs = new WeakMap<AbortSignal, Map<string, Met>>()

  async function ask(
    resolve: ResolveRemote,
    { text, host, signal }: { text: string; host: string; signal: AbortSignal },
  ): Promise<number | undefined> {
    signal.throwIfAborted()
    const known = await resolve(text, { fetch: false })
    const ofRun = runs.get(signal) ?? new Map<string, Met>()
    runs.set(signal, ofRun)
    const met = ofRun.get(host) ?? NOTHING
    const all = ofRun.get(ALL) ?? NOTHING
    const isEnough = met.slow >= MAX_SLOW || isTooMuch(met, 1) || isTooMuch(all, OF_ALL)
    if (known !== undefined || !config().search.remote_uri.users || isEnough) return known
    const began = performance.now()
    const id = await resolve(text, { fetch: true })
    const outcome = { isMissed: id === undefined, isSlow: performance.now() - began > SLOW }
    ofRun.set(host, added(met, outcome))
    ofRun.set(ALL, added(all, outcome))
    return id
  }

  return {
    async video(url, { accountId, signal }) {
      const host = url.length <= LONGEST_ADDRESS ? URL.parse(url)?.host : undefined
      if (!host) throw unknownVideo()
      const id =
        (await findImported(db.query, { accountId, kind: 'video', key: url })) ??
        (await ask(resolveRemote.video, { text: url, host, signal }))
      const video = id === undefined ? undefined : await findVideoAccess(db, { id })
      if (!video) throw unknownVideo()
      assertMaySee(video, viewerOf(accountId))
      return video.id
    },

    async account({ name, host }, { signal }) {
      const id = await ask(resolveRemote.account, { text: `${name}@${host}`, host, signal })
      if (id === undefined) throw notFound('Account not found')
      return id
    },
  }
}

const NOTHING: Met = { asked: 0, missed: 0, slow: 0 }
/** Key of the statistics of all servers. */
const ALL = ''

const added = ({ asked, missed, slow }: Met, { isMissed, isSlow }: { isMissed: boolean; isSlow: boolean }): Met => ({
  asked: asked + 1,
  missed: missed + (isMissed ? 1 : 0),
  slow: isMissed && isSlow ? slow + 1 : 0,
})

const isTooMuch = ({ asked, missed }: Met, times: number): boolean =>
  asked >= MAX_ASKED * times || (missed >= MAX_MISSED * times && missed > asked / 2)

/** The importing user as a viewer, without the rights that staff has over others' content. */
export const viewerOf = (accountId: number): NonNullable<Viewer> => ({ accountId, role: userRoles.user })

const unknownVideo = () => notFound('Video not found')
