// Videos by their addresses in an archive: what was made of them, what is here under that address, or what their own server tells of
// them, as a search for the address would find it. Nobody gets at more than that search would show.

import { performance } from 'node:perf_hooks'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { notFound } from '../runtime/index.ts'
import { userRoles } from '../user/index.ts'
import { assertMaySee, findVideoAccess, type Viewer } from '../video/index.ts'
import { findImported } from './imported-objects.ts'
import type { ImportContext } from './part-importer.ts'

/** Row ids of what a text names, with other servers asked where `fetch` says so; undefined when that takes too long too. */
export type ResolveRemote = (text: string, options: { fetch: boolean }) => Promise<number | undefined>

export interface References {
  /** Throws `not_found`, `forbidden`. */
  video(url: string, context: ImportContext): Promise<number>
  /** An account by its handle, `name@host`. Throws `not_found`. */
  account(handle: { name: string; host: string }, context: ImportContext): Promise<number>
}

const LONGEST_ADDRESS = 2000
/** An answer that takes longer, in ms, is one that nobody wants to wait for a thousand times. */
const SLOW = 1000
/** After so many of them, one after the other, a server is asked no more in this run of the import. */
const MOST_SLOW = 3
/** The same after so many times in vain, when those are more than the others: that is no list of what somebody saw. */
const MOST_MISSED = 100
/** And after so many in all: an archive is no reason to fetch a whole server. */
const MOST_ASKED = 5_000
/** So many times as much of all servers together, whose names may be one server's. */
const OF_ALL = 10

/** How a server, or all together, met what a run of an import asked. */
interface Met {
  asked: number
  missed: number
  /** Slow, one after the other. */
  slow: number
}

export function makeReferences(deps: {
  db: Pick<Database, 'query'>
  config: () => Config
  resolveRemote: { video: ResolveRemote; account: ResolveRemote }
}): References {
  const { db, config, resolveRemote } = deps
  /** By the servers that a run of an import had to do with. */
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
    const isEnough = met.slow >= MOST_SLOW || isTooMuch(met, 1) || isTooMuch(all, OF_ALL)
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
/** No name of a server. */
const ALL = ''

const added = ({ asked, missed, slow }: Met, { isMissed, isSlow }: { isMissed: boolean; isSlow: boolean }): Met => ({
  asked: asked + 1,
  missed: missed + (isMissed ? 1 : 0),
  slow: isMissed && isSlow ? slow + 1 : 0,
})

const isTooMuch = ({ asked, missed }: Met, times: number): boolean =>
  asked >= MOST_ASKED * times || (missed >= MOST_MISSED * times && missed > asked / 2)

/** Whose archive it is, without the rights that staff has over what others own. */
export const viewerOf = (accountId: number): NonNullable<Viewer> => ({ accountId, role: userRoles.user })

const unknownVideo = () => notFound('Video not found')
