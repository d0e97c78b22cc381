// ffmpeg and ffprobe: found, usable, and their missing features.

import { findFfmpeg } from '../../media/index.ts'
import { type Check, sentence } from './check.ts'

export const mediaCheck: Check = {
  name: 'ffmpeg',
  limit: 25_000,
  async run({ loaded, env }, say) {
    const { ffmpeg_path, ffprobe_path } = loaded.config.vireo.media
    try {
      const found = await findFfmpeg({
        ffmpegPath: ffmpeg_path ?? undefined,
        ffprobePath: ffprobe_path ?? undefined,
        path: env.PATH,
      })
      say.ok(`ffmpeg ${found.version} encodes H.264 and AAC (${found.ffmpegPath}, ${found.ffprobePath}).`)
      for (const warning of found.warnings) say.problem(warning, 'Install a current ffmpeg package.')
      if (!found.canToneMap) {
        const advice = 'Install an ffmpeg that was built with libzimg.'
        say.warning('This ffmpeg cannot map HDR pictures to the usual range (zscale, tonemap).', advice)
      }
    } catch (error) {
      say.problem(sentence(error), 'Install ffmpeg, or set vireo.media.ffmpeg_path and ffprobe_path.')
    }
  },
}
