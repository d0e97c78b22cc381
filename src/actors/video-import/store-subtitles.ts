// Converts subtitles of another site to captions, as far as they are readable.

import { MediaError, toWebVtt } from '../../media/index.ts'
import type { Captions } from '../caption/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { languageOf } from './import-fields.ts'

interface Subtitles {
  videoId: number
  /** The owner of the video. */
  by: NonNullable<Viewer>
  subtitles: readonly { language: string; read(): Promise<Uint8Array> }[]
}

/** One per language, the first one. Idempotent. */
export async function storeSubtitles(
  { captions, logger }: Pick<ActorDeps, 'logger'> & { captions: Pick<Captions, 'set'> },
  { videoId, by, subtitles }: Subtitles,
): Promise<void> {
  const stored = new Set<string>()
  for (const { language: code, read } of subtitles) {
    const language = languageOf(code)
    if (language === undefined || stored.has(language)) continue
    try {
      const onLoss = (line: number, why: string) =>
        logger.info({ videoId, language, line, why }, 'a part of the subtitles of an imported video is left out')
      await captions.set(videoId, by, { language, vtt: await toWebVtt(await read(), { language, onLoss }) })
      stored.add(language)
    } catch (error) {
      if (!(error instanceof MediaError)) throw error
      logger.debug({ err: error, videoId, language }, 'subtitles of an imported video are of no use')
    }
  }
}
