// Storage of a video's file, stored in its row, so that building its address needs no store access.

import type { FileRef, Place, Store } from '../../../media/index.ts'

/** `FileStorage` of the contract. */
export const fileStorages = { fileSystem: 0, objectStorage: 1 } as const

export type FileStorage = (typeof fileStorages)[keyof typeof fileStorages]

export const storageIn = (place: Place): FileStorage => (place === 'object-storage' ? fileStorages.objectStorage : fileStorages.fileSystem)

/** Storage of a file that was just stored. */
export async function storageOf(store: Pick<Store, 'placeOf'>, ref: FileRef): Promise<FileStorage> {
  return storageIn((await store.placeOf(ref)) ?? 'file-system')
}
