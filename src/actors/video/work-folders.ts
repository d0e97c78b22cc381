// Work folders: what jobs and requests make of files on this machine's disk before it is stored. All that begins so, and that no
// note names, is removed.

import type { FileRef } from '../../media/index.ts'

/** What they are for. */
export const workKinds = ['channel', 'form', 'import', 'pictures', 'storyboard', 'studio', 'transcoding', 'user-import'] as const

export type WorkKind = (typeof workKinds)[number]

/** `id` has letters, digits, `_` and `-`. To be noted before it is made. */
export const workFolder = (kind: WorkKind, id: number | string): FileRef & { kind: 'tmp'; folder: true } => ({
  kind: 'tmp',
  name: `${kind}-${id}`,
  folder: true,
})

const NAME = new RegExp(`^(?:${workKinds.join('|')})-[\\w-]+$`)

/** Whether a folder of the disk is one of these by its name. */
export const isWorkFolder = (name: string): boolean => NAME.test(name)
