// ffprobe's output: its schema, and the `metadata` document of a file in the REST API (format, streams, chapters).

import { z } from 'zod'

const tags = z.record(z.string(), z.string())

const streamSchema = z.looseObject({
  index: z.number().int(),
  codec_type: z.string().optional(),
  codec_name: z.string().optional(),
  profile: z.string().optional(),
  level: z.number().optional(),
  width: z.number().int().optional(),
  height: z.number().int().optional(),
  pix_fmt: z.string().optional(),
  sample_aspect_ratio: z.string().optional(),
  field_order: z.string().optional(),
  color_transfer: z.string().optional(),
  color_space: z.string().optional(),
  color_primaries: z.string().optional(),
  start_time: z.string().optional(),
  r_frame_rate: z.string().optional(),
  avg_frame_rate: z.string().optional(),
  duration: z.string().optional(),
  bit_rate: z.string().optional(),
  sample_rate: z.string().optional(),
  channels: z.number().int().optional(),
  channel_layout: z.string().optional(),
  tags: tags.optional(),
  disposition: z.record(z.string(), z.number()).optional(),
  side_data_list: z.array(z.looseObject({ rotation: z.number().optional() })).optional(),
})

export const ffprobeSchema = z.looseObject({
  format: z.looseObject({
    format_name: z.string().optional(),
    duration: z.string().optional(),
    start_time: z.string().optional(),
    bit_rate: z.string().optional(),
    tags: tags.optional(),
  }),
  streams: z.array(streamSchema).default([]),
  chapters: z.array(z.looseObject({})).default([]),
  /** The first few. */
  packets: z.array(z.looseObject({ stream_index: z.number().int(), flags: z.string().optional() })).default([]),
})

export type Ffprobe = z.infer<typeof ffprobeSchema>
export type FfprobeStream = z.infer<typeof streamSchema>

/** The `VideoFileMetadata` of the REST API. */
export interface FileMetadata {
  format: Record<string, unknown>
  streams: Record<string, unknown>[]
  chapters: Record<string, unknown>[]
}

/** Maximum streams in the document. */
const MAX_STREAMS = 32

/** Converts ffprobe's numeric texts to numbers, and removes the path of the file. */
export function toMetadata({ format, streams, chapters }: Pick<Ffprobe, 'format' | 'streams' | 'chapters'>): FileMetadata {
  const { filename: _path, ...rest } = format
  return {
    format: withNumbers(rest),
    streams: streams
      .slice(0, MAX_STREAMS)
      .map(withoutCounts)
      .map((stream) => ({
        ...unknownOf(stream),
        ...withNumbers(stream),
      })),
    chapters: chapters.map((chapter) => ({ ...chapter })),
  }
}

/** The counts cover only the first few packets. */
function withoutCounts({ nb_read_packets: _packets, nb_read_frames: _frames, ...stream }: FfprobeStream): FfprobeStream {
  return stream
}

/** ffprobe omits unknown fields, which clients expect: adds its word for unknown. */
function unknownOf({ codec_type: type }: FfprobeStream): Record<string, string> {
  const counts = { max_bit_rate: 'N/A', nb_read_frames: 'N/A', nb_read_packets: 'N/A' }
  if (type !== 'video') return counts
  const colours = { color_range: UNKNOWN, color_space: UNKNOWN, color_transfer: UNKNOWN, color_primaries: UNKNOWN }
  return { ...counts, ...colours }
}

const UNKNOWN = 'unknown'

function withNumbers(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value]),
  )
}
