// The tasks of an edition as clients send them: in a form, `tasks[0][name]`, `tasks[0][options][start]` and files; or as JSON.

import { z } from 'zod'

/** The limits of the contract (limits.json, fields.studio). */
const MAX_TASKS = 10
/** Seconds: longer than any video. */
const LARGEST_TIME = 10_000_000

/** Forms express null by an empty text, and numbers by texts. */
const asNumber = (sent: unknown): unknown => {
  if (sent === '' || sent === null) return undefined
  return typeof sent === 'string' && /^\d{1,8}(?:\.\d{1,9})?$/.test(sent) ? Number(sent) : sent
}

const time = z.preprocess(asNumber, z.number().min(0).max(LARGEST_TIME).optional())

const cut = z.object({
  name: z.literal('cut'),
  options: z
    .object({ start: time, end: time })
    .refine(({ start, end }) => start !== undefined || end !== undefined, 'Should have a start or an end')
    .refine(({ start = 0, end }) => end === undefined || end > start, 'Should end after its start'),
})

/** The file is a separate part. */
const withFile = z.object({ name: z.enum(['add-intro', 'add-outro', 'add-watermark']) })

export const editFields = z.object({
  tasks: z
    .array(z.discriminatedUnion('name', [cut, withFile]))
    .min(1)
    .max(MAX_TASKS),
})

export type SentTask = z.output<typeof editFields>['tasks'][number]

/** The name of the part with the file of a task. */
export const fileOfTask = (index: number): string => `tasks[${index}][options][file]`

export const fileParts: readonly string[] = Array.from({ length: MAX_TASKS }, (_, index) => fileOfTask(index))
