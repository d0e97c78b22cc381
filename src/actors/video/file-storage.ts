// Where a file of a video lies, as its row says it, so that its address needs no look into the store.

import type { FileRef, Place, Store } from '../../media/index.ts'

/** `FileStorage` of the contract. */
export const fileStorages = { fileSystem: 0, objectStorage: 1 } as const

export type FileStorage = (typeof fileStorages)[keyof typeof fileStorages]

export const storageIn = (place: Place): FileStorage => (place === 'object-storage' ? fileStorages.objectStorage : fileStorages.fileSystem)

/** That of a file which was just stored. */
export async function storageOf(store: Pick<Store, 'placeOf'>, ref: FileRef): Promise<FileStorage> {
  return storageIn((await store.placeOf(ref)) ?? 'file-system')
}
