// What the process of a plugin declares of itself. It may declare anything, so it is read with bounds.

import { z } from 'zod'
import { parseEarly } from '../../platform/first-fault.ts'

const name = z.string().min(1).max(200)
const MOST = 200
const few = <T extends z.ZodType>(item: T) => z.array(item).max(MOST)
/** Values that a plugin removes, and those that it adds. */
const changes = (key: z.ZodType<string, string>) =>
  z.object({
    deleted: few(name),
    added: z.record(key, name).refine((added) => Object.keys(added).length <= MOST),
  })
const number = changes(
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'Should be a number up to 30000')
    .refine((text) => Number(text) <= 30_000),
)
const language = changes(z.string().regex(/^[a-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,3}$/))
const closed = z.object({ deleted: few(name) })

/** True if the login wants to be asked about its sessions; missing in what earlier versions stored. */
const hookTokenValidity = z.boolean().optional()

export const declaredSchema = z.object({
  settings: few(
    z.looseObject({
      name: name.optional(),
      type: z.string().max(100).optional(),
      label: z.string().max(5000).optional(),
      private: z.boolean().optional(),
    }),
  ),
  /** Names and highest priorities. */
  hooks: z.record(name, z.number()).refine((hooks) => Object.keys(hooks).length <= MOST),
  hasRouter: z.boolean(),
  /** Paths such as `/chat`. */
  webSocketRoutes: few(name),
  idAndPassAuths: few(z.object({ authName: name, weight: z.int(), hookTokenValidity })),
  externalAuths: few(z.object({ authName: name, authDisplayName: name, hookTokenValidity })),
  constants: z.object({ language, licence: number, category: number, privacy: closed, playlistPrivacy: closed }),
})

export type Declared = z.infer<typeof declaredSchema>

/** Characters of a declaration. */
const LONGEST = 200_000

/** Throws an Error if it is none. */
export function readDeclared(value: unknown): Declared {
  if (JSON.stringify(value).length > LONGEST) throw new Error('The plugin declares too much.')
  return parseEarly(declaredSchema, value)
}
