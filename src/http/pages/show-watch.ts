// Renders the page of a video, at its own address and in a playlist, and the one that asks for its password.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findThread, listThreads, seesPendingReview } from '../../actors/comment/index.ts'
import { listReplays } from '../../actors/live/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import { findOwnReading, hasPrivateFiles, type WatchedVideoRow } from '../../actors/video/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { type Language, t } from '../../platform/language.ts'
import type { Part } from '../videos/response-cache.ts'
import { viewerOf } from '../videos/viewer.ts'
import { previewPath, watchPath } from './addresses.ts'
import { COMMENTS_PER_PAGE, noComments, THREADS_PER_PAGE, threadOf, threadsOf } from './bodies/comments.ts'
import { downloadsOf, shareOf } from './bodies/downloads.ts'
import { emptyPlayer, noticesOf } from './bodies/notices.ts'
import { counted } from './bodies/text.ts'
import { belowPlayer, subscribeLink, watchBody, withOwnParts } from './bodies/watch.ts'
import { titleText } from './heads/index.ts'
import type { Page } from './layout.ts'
import { type Played, playerOf } from './player.ts'
import type { Answer, PageTools } from './send.ts'
import { type FileToken, type Sources, sourcesOf } from './sources.ts'
import { coversOf, findWatched, sensitivePolicy, type Watched, warnsOf } from './watched.ts'

export interface Shown extends Played {
  visit: Visit | null
  /** What the viewer may do, if the page offers it. */
  own?: Parameters<typeof withOwnParts>[1]
}

const COMMENTS_DISABLED = 2

/** The address for progress reports of logged-in users; undefined for visitors, whose players report to the API. */
export const reportsOf = (
  { visitors }: PageTools,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { video, visit }: Pick<Shown, 'video' | 'visit'>,
) => (visit ? { path: `${watchPath(video)}/views`, token: visitors.formToken(request, reply) } : undefined)

/** The player or its replacement, and the origins of its media. A frame has a heading that is read out, not shown. */
export function showPlayer({ urls, config }: PageTools, shown: Shown): { player: Html; sources: Sources } {
  const { video, visit, fileToken, embed } = shown
  const sources = sourcesOf(video, urls, fileToken)
  const isEmpty = !sources.hls && sources.files.length === 0
  const player = isEmpty
    ? emptyPlayer(video, previewPath(video, fileToken))
    : playerOf({ ...shown, sources, here: urls, warns: warnsOf(config(), visit) })
  return { player: embed ? html`<h1 class="away">${titleText(video.name)}</h1>${player}` : player, sources }
}

/**
 * The page of a video without its player (`body`: the HTML below and next to it), independent of the player's options and the viewer's last
 * position, in one language.
 */
export interface WatchPart extends Part {
  video: WatchedVideoRow
  fileToken: FileToken
  head: Pick<Page, 'title' | 'head'>
}

/** `said`: the requested comments; none in playlists, where `aside` lists the elements. */
export async function makePart(
  tools: PageTools,
  shown: Pick<Shown, 'video' | 'visit' | 'fileToken'> & { language: Language; said?: Said; aside?: Html },
): Promise<WatchPart> {
  const { video, visit, fileToken, language, said, aside } = shown
  const { db, urls: here, config, headOf, hiddenHead } = tools
  const isPrivate = hasPrivateFiles(video)
  const { hls, files } = sourcesOf(video, here, fileToken)
  return {
    video,
    videoId: video.id,
    fileToken,
    // No metadata for machines unless the video is public.
    head: isPrivate ? hiddenHead(video.name) : headOf({ kind: 'video', video }),
    body: belowPlayer({
      video,
      here,
      notices: noticesOf(video, hls !== undefined || files.length > 0),
      comments: said ? await commentsOf(tools, visit, video, said) : null,
      downloads: downloadsOf(video, here, fileToken),
      share: isPrivate ? null : shareOf(video, here),
      covers: coversOf(config(), visit),
      replays: video.is_live && !video.remote ? await listReplays(db, video.id) : [],
      ...(aside ? { aside } : {}),
    }).in(language),
  }
}

export function showWatch(tools: PageTools, { head, body }: WatchPart, shown: Shown): Answer {
  const { video, own } = shown
  const { player, sources } = showPlayer(tools, shown)
  return {
    ...head,
    body: watchBody(
      player,
      withOwnParts(body, { subscribe: subscribeLink(video), subscribers: counted.subscribers(video.channel.followers), ...own }),
    ),
    player: true,
    origins: sources.origins,
    isPrivate: hasPrivateFiles(shown.video) || shown.visit !== null,
  }
}

export interface Said {
  /** The first shown thread, or the first comment of a single thread. */
  start: number
  /** A single thread with its replies. */
  threadId: number | undefined
}

async function commentsOf(
  { db, urls: here }: PageTools,
  visit: Visit | null,
  video: WatchedVideoRow,
  { start, threadId }: Said,
): Promise<Html> {
  if (video.comments_policy === COMMENTS_DISABLED) return noComments()
  const viewer = viewerOf(visit)
  const ownerAccountId = video.owner_account_id
  const reader = {
    videoId: video.id,
    ownerAccountId,
    accountId: viewer?.accountId ?? null,
    seesPendingReview: viewer !== null && seesPendingReview({ ownerAccountId }, viewer),
  }
  if (threadId !== undefined) {
    const part = { start, count: COMMENTS_PER_PAGE + 1 }
    const rows = await findThread(db, { ...reader, threadId, part })
    if (rows.length > 0) return threadOf({ rows, start }, { video, here, threadId })
  }
  const page = { start, count: THREADS_PER_PAGE, sort: { by: 'createdAt', descending: true } } as const
  return threadsOf({ ...(await listThreads(db, { ...reader, ...page })), start }, { video, here })
}

/** A password that is too long is wrong as well. */
const passwordForm = z.object({ password: z.string().max(500).catch('') })

/** The options of the route that takes the form: those of the page, and its field. */
export const takingPassword = <O extends { config: object; schema: object }>(options: O) => ({
  ...options,
  config: { ...options.config, takesVideoPassword: true },
  schema: { ...options.schema, body: passwordForm },
})

/** Asks for the password, without revealing anything about the video. The form posts to the address of the page itself. */
export const lockedPage = ({ hiddenHead }: PageTools, { isWrong }: { isWrong: boolean }): Answer => ({
  status: 403,
  ...hiddenHead(),
  title: t('Password needed'),
  body: html`<section class="locked">
<h1>${t('This video needs a password')}</h1>
<p>${t('Whoever sent you here can tell you what it is.')}</p>
<form method="post" class="fields"><label>${t('Password')}<input type="password" name="password" required autocomplete="off" maxlength="500"${
    isWrong && html` aria-invalid="true" aria-describedby="wrong"`
  }></label><button class="main">${t('Watch')}</button></form>
${isWrong && html`<p id="wrong" role="alert" class="problem">${t('That is not the password of this video.')}</p>`}
</section>`,
})

export type AskedVideo<Query extends z.ZodType> = FastifyRequest & { params: { id: string }; query: z.infer<Query> }

type Found = Exclude<Watched, { found: 'video' }> | { found: 'video'; part: WatchPart }
interface AskedPart {
  id: string
  password?: string | undefined
  said: Said
  language: Language
}

/** Finds the page without its player. The visitors' version is cached for a moment; users share it if theirs is the same. */
export function makeFindPart(tools: PageTools) {
  const { db, config, answers } = tools
  const kept = answers?.ofParts<WatchPart>()

  async function make(visit: Visit | null, { id, password, said, language }: AskedPart): Promise<Found> {
    const watched = await findWatched(tools, visit, { id, password })
    if (watched.found !== 'video') return watched
    return { found: 'video', part: await makePart(tools, { ...watched, visit, said, language }) }
  }

  async function findShared(asked: AskedPart): Promise<Found> {
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
  async function findOwn(visit: Visit, asked: AskedPart): Promise<Found | undefined> {
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

  return async (visit: Visit | null, asked: AskedPart): Promise<Found> => {
    // The page behind a password is not shared.
    if (asked.password !== undefined) return await make(visit, asked)
    if (visit === null) return await findShared(asked)
    return (kept && (await findOwn(visit, asked))) ?? (await make(visit, asked))
  }
}
