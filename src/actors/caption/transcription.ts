// Captions that remote runners make from speech: asked for by the owner, offered as one job, stored like a caption that was uploaded.

import { readFile } from 'node:fs/promises'
import { type FileRef, MediaError, toWebVtt } from '../../media/index.ts'
import { notWanted, type RemoteWorks, type Result, type RunnerJob } from '../runner/index.ts'
import {
  type ActorDeps,
  cancelRunnerJob,
  DomainError,
  hasRunnerJob,
  NotNow,
  notFound,
  offerRunnerJob,
  PermanentFailure,
  type Unit,
} from '../runtime/index.ts'
import { findSourceFile } from '../transcoding/index.ts'
import { announceChange, isFederated, languageLabels } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import type { Captions } from './caption.commands.ts'

const TYPE = 'video-transcription'

/** Languages that Whisper recognises under codes of its own. */
const NEAREST: Readonly<Record<string, string>> = { jw: 'jv', yue: 'zh' }
/** Languages of Whisper that have no name here: another runner would recognise the same. */
const UNNAMED: readonly string[] = ['haw', 'sa']

/** SQL: true if the video `v` has a file that can be read. */
const HAS_FILE = `(exists (select from video_source s where s.video_id = v.id and s.kept_filename is not null)
  or exists (select from video_file f where f.video_id = v.id and not f.outdated and f.filename is not null))`

export type Transcriptions = ReturnType<typeof makeTranscriptions>

/** Registers the kind of work. */
export function makeTranscriptions(deps: ActorDeps & { works: RemoteWorks; captions: Pick<Captions, 'begin' | 'withPlaced' | 'insert'> }) {
  const { db, tell, config, registry, works, captions } = deps

  // As its uploader wishes, when it has a file.
  registry.job('transcribe', {
    queue: 'io',
    async run({ data }) {
      const videoId = Number(data.videoId)
      const [video] = await db.query<{ hasFile: boolean; isAwaited: boolean }>(
        `select ${HAS_FILE} as "hasFile", v.state in ('to-import', 'to-transcode') as "isAwaited" from video v
         where v.id = $1 and v.state <> 'removed'`,
        [videoId],
      )
      if (!video?.hasFile && video?.isAwaited) throw new NotNow('The file of the video is not there yet.')
      if (!video?.hasFile) return
      await request(videoId, false).catch((error: unknown) => {
        // Somebody was faster, or administrators have switched it off.
        if (!(error instanceof DomainError)) throw error
      })
    },
  })

  works.add(TYPE, {
    payload: (_job, address) => ({ input: { videoFileUrl: address('max-quality') } }),
    privatePayload: ({ data }) => ({ videoUUID: data.video }),
    input,
    results: async () => ({ vttFile: config().vireo.uploads.max_caption_size }),
    take,
  })

  /** The file with the sound, whatever its picture. */
  async function input({ data }: RunnerJob, file: string): Promise<FileRef | undefined> {
    if (file !== 'max-quality') return undefined
    const videoId = Number(data.videoId)
    const [source] = await db.query<{ kept: string | null }>('select kept_filename as kept from video_source where video_id = $1', [
      videoId,
    ])
    const { picture, sound } = await findSourceFile(deps, { videoId, kept: source?.kept ?? null })
    return sound ?? picture
  }

  async function take(
    { data }: RunnerJob,
    { files: { vttFile = '' }, language: recognised = '' }: Result,
    done: (unit: Unit) => Promise<void>,
  ): Promise<void> {
    const language = NEAREST[recognised] ?? recognised
    if (UNNAMED.includes(language)) throw new PermanentFailure(`This server has no captions in the language "${language}".`)
    if (!Object.hasOwn(languageLabels, language)) throw new MediaError('failed', `The language "${language}" is not known.`)
    const videoId = Number(data.videoId)
    const begun = captions.begin(language, { isAutomatic: true })
    await captions.withPlaced(begun, await toWebVtt(await readFile(vttFile), { language }), () =>
      tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, videoId)
        const own = await unit.query('select 1 from video_caption where video_id = $1 and language = $2', [videoId, language])
        // What a person wrote meanwhile is better.
        if (video.state === 'removed' || own.length > 0) throw notWanted()
        const captionId = await captions.insert(unit, videoId, begun)
        if (captionId !== undefined) unit.emit({ aggregate: 'video', id: videoId }, 'VideoTranscribed', { videoId, captionId })
        if (video.state === 'published' && isFederated(video.privacy)) announceChange(unit, video)
        await done(unit)
      }),
    )
  }

  /**
   * Offers the transcription; with `isForced` again, although it is under way. Throws `not_found`; `invalid` if it is disabled, for lives,
   * without a file, and with captions (`video_already_has_captions`); `conflict` while it is under way (`video_already_being_transcribed`).
   */
  async function request(videoId: number, isForced: boolean): Promise<void> {
    if (!config().video_transcription.enabled) throw new DomainError('invalid', 'Video transcription is disabled on this instance')
    await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const { state, isLive, uuid: video } = await unit.em.findOneOrFail(Video, videoId)
      if (state === 'removed') throw notFound('Video not found')
      if (isLive) throw new DomainError('invalid', 'A live is not transcribed.')
      const [found] = await unit.query<{ hasCaptions: boolean; hasFile: boolean }>(
        `select exists (select from video_caption where video_id = v.id) as "hasCaptions", ${HAS_FILE} as "hasFile" from video v where v.id = $1`,
        [videoId],
      )
      if (!found?.hasFile) throw new DomainError('invalid', 'This video has no file that could be transcribed.')
      if (found.hasCaptions) {
        throw new DomainError('invalid', 'This video already has captions', { code: 'video_already_has_captions' })
      }
      if (isForced) await cancelRunnerJob(unit, TYPE, videoId)
      else if (await hasRunnerJob(unit, TYPE, videoId)) {
        throw new DomainError('conflict', 'This video is already being transcribed', { code: 'video_already_being_transcribed' })
      }
      await offerRunnerJob(unit, { type: TYPE, data: { videoId, video }, priority: config().vireo.jobs.priorities.transcription })
    })
  }

  return { request }
}
