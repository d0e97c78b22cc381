// Work folders: files that jobs and requests make on the local disk before they are stored. Folders with these names and without a note are
// removed.

import type { FileRef } from '../../../media/index.ts'

/** Their purposes. */
export const workKinds = [
  'channel',
  'form',
  'import',
  'live',
  'pictures',
  'runner',
  'storyboard',
  'studio',
  'transcoding',
  'user-import',
] as const

export type WorkKind = (typeof workKinds)[number]

/** `id` has letters, digits, `_` and `-`. Note the folder before making it. */
export const workFolder = (kind: WorkKind, id: number | string): FileRef & { kind: 'tmp'; folder: true } => ({
  kind: 'tmp',
  name: `${kind}-${id}`,
  folder: true,
})

const NAME = new RegExp(`^(?:${workKinds.join('|')})-[\\w-]+$`)

/** True if a folder of the disk is a work folder by its name. */
export const isWorkFolder = (name: string): boolean => NAME.test(name)
