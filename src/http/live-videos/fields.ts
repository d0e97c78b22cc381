// The fields of a live: those of an upload, with the settings of the live.

import { z } from 'zod'
import { type LiveRow, latencyModes } from '../../actors/live/index.ts'
import { coercedInteger } from '../plugins/schemas.ts'
import { formFields, formFlag, jsonFields } from '../uploads/fields.ts'

/** Replays cannot be protected by a password. */
const MAX_REPLAY_PRIVACY = 4

/** Both encodings take anything for false, as clients have always been able to send it. */
export const liveSettings = z.object({
  saveReplay: formFlag,
  replaySettings: z.object({ privacy: coercedInteger({ min: 1, max: MAX_REPLAY_PRIVACY }) }).nullish(),
  permanentLive: formFlag,
  latencyMode: z
    .preprocess(
      (sent) => (typeof sent === 'string' && /^\d$/.test(sent) ? Number(sent) : sent),
      z.literal(Object.values(latencyModes), 'Invalid value'),
    )
    .optional(),
})

/** For a multipart form. Refusals name the channel first. */
export const formLive = formFields.pick({ channelId: true }).extend({ ...formFields.shape, ...liveSettings.shape })

/** For a JSON body. */
export const jsonLive = jsonFields.pick({ channelId: true }).extend({ ...jsonFields.shape, ...liveSettings.shape })

type Settings = Pick<LiveRow, 'saveReplay' | 'replayPrivacy' | 'permanentLive' | 'latencyMode'>

/** The settings that were sent. A replay privacy counts only with `saveReplay`. */
export function toSettings({ saveReplay, replaySettings, permanentLive, latencyMode }: z.output<typeof liveSettings>): Partial<Settings> {
  return {
    ...(saveReplay === undefined ? {} : { saveReplay }),
    ...(saveReplay === true && replaySettings ? { replayPrivacy: replaySettings.privacy } : {}),
    ...(permanentLive === undefined ? {} : { permanentLive }),
    ...(latencyMode === undefined ? {} : { latencyMode }),
  }
}
