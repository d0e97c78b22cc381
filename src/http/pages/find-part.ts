// Finds the page of a video without its player. The visitors' version is cached for a moment; users share it if theirs is the same.

import { seesPendingReview } from '../../actors/comment/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import { findOwnReading, hasPrivateFiles } from '../../actors/video/index.ts'
import type { Language } from '../../platform/language.ts'
import { viewerOf } from '../videos/viewer.ts'
import type { PageTools } from './send.ts'
import { makePart, type Said, type WatchPart } from './show-watch.ts'
import { findWatched, sensitivePolicy, type Watched } from './watched.ts'

type Found = Exclude<Watched, { found: 'video' }> | { found: 'video'; part: WatchPart }
interface Asked {
  id: string
  password?: string | undefined
  said: Said
  language: Language
}
type FindPart = (visit: Visit | null, asked: Asked) => Promise<Found>

export function makeFindPart(tools: PageTools): FindPart {
  const { db, config, answers } = tools
  const kept = answers?.ofParts<WatchPart>()

  async function make(visit: Visit | null, { id, password, said, language }: Asked): Promise<Found> {
    const watched = await findWatched(tools, visit, { id, password })
    if (watched.found !== 'video') return watched
    return { found: 'video', part: await makePart(tools, { ...watched, visit, said, language }) }
  }

  /** The visitors' version. */
  async function findShared(asked: Asked): Promise<Found> {
    if (!kept) return await make(null, asked)
    const { id, said, language } = asked
    let other: Found | undefined
    const part = await kept(`${language.tag} ${id} ${said.start} ${said.threadId ?? ''}`, async () => {
      const made = await make(null, asked)
      if (made.found === 'video' && !hasPrivateFiles(made.part.video)) return made.part
      other = made
      return undefined
    })
    return part ? { found: 'video', part } : (other ?? (await make(null, asked)))
  }

  /** The visitors' version for a user; undefined if the user's own version differs. */
  async function findOwn(visit: Visit, asked: Asked): Promise<Found | undefined> {
    if (sensitivePolicy(config(), visit) !== sensitivePolicy(config(), null)) return undefined
    const shared = await findShared(asked)
    if (shared.found !== 'video') return undefined
    const { part } = shared
    const viewer = viewerOf(visit)
    const { watchedSeconds, differs } = await findOwnReading(db, {
      videoId: part.videoId,
      accountId: viewer.accountId,
      seesPendingReview: seesPendingReview({ ownerAccountId: part.video.owner_account_id }, viewer),
    })
    if (differs) return undefined
    return { found: 'video', part: { ...part, video: { ...part.video, watched_seconds: watchedSeconds } } }
  }

  return async (visit, asked) => {
    // The page behind a password is not shared.
    if (asked.password !== undefined) return await make(visit, asked)
    if (visit === null) return await findShared(asked)
    return (kept && (await findOwn(visit, asked))) ?? (await make(visit, asked))
  }
}
