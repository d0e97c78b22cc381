// The store: a small file of each kind is written, read back and removed in each place; and the free disk space.

import { stat, statfs } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { openStore } from '../../connections.ts'
import { type FileKind, fileKinds, type Store } from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type Check, type Say, sentence } from './check.ts'

const GIB = 1024 ** 3
/** Free bytes on a disk. */
const LITTLE = 5 * GIB
const TOO_LITTLE = GIB / 2

export const storeCheck: Check = {
  name: 'store',
  limit: 20_000,
  async run({ loaded }, say) {
    let opened: ReturnType<typeof openStore>
    try {
      opened = openStore(loaded.config, 'doctor')
    } catch (error) {
      return say.problem(sentence(error), 'Set the section object_storage right.')
    }
    const { store, objects } = opened
    try {
      await Promise.all([
        probe(store, 'file-system', say),
        objects ? probe(store, 'object-storage', say) : undefined,
        lookAtDisks(loaded.config.storage, say),
      ])
    } finally {
      await objects?.close()
    }
  },
}

async function probe(store: Store, place: 'file-system' | 'object-storage', say: Say): Promise<void> {
  const outcomes = await Promise.all(
    fileKinds.map(async (kind) => {
      const only = store.only(place, kind)
      return only && { kind, failure: await failureOf(only, kind) }
    }),
  )
  const probed = outcomes.filter((outcome) => outcome !== undefined)
  const failed = probed.filter(({ failure }) => failure !== undefined)
  const isFolder = place === 'file-system'
  if (failed.length === 0) {
    const { length } = probed
    say.ok(
      isFolder
        ? `Files of ${length} kinds can be written, read and removed in the folders.`
        : `Files of ${length} kinds can be written, read and removed in object storage.`,
    )
    return
  }
  const advice = isFolder
    ? 'Give the folder of that kind (section storage) to the user who runs the server.'
    : 'Check endpoint, credentials, bucket names and rights of the section object_storage.'
  for (const { kind, failure } of failed) {
    say.problem(
      isFolder ? `${kind} cannot be kept in the folders: ${failure}` : `${kind} cannot be kept in object storage: ${failure}`,
      advice,
    )
  }
}

/** The failure with a small file; undefined if all works. */
async function failureOf(store: Store, kind: FileKind): Promise<string | undefined> {
  const ref = { kind, name: `doctor-${newUuid()}.txt` }
  const bytes = Buffer.from(ref.name)
  try {
    await store.put(ref, bytes)
    try {
      const { stream } = await store.open(ref)
      if (!bytes.equals(await buffer(stream))) return 'what is read is not what was written.'
    } finally {
      await store.remove(ref)
    }
    return (await store.stat(ref)) ? 'what is removed stays.' : undefined
  } catch (error) {
    return sentence(error)
  }
}

async function lookAtDisks(folders: Record<string, string>, say: Say): Promise<void> {
  const disks = new Map<number, string[]>()
  for (const folder of Object.values(folders)) {
    const found = await stat(folder).catch(() => undefined)
    if (found) disks.set(found.dev, [...(disks.get(found.dev) ?? []), folder])
  }
  for (const [folder = ''] of disks.values()) {
    const { bavail, bsize } = await statfs(folder)
    const left = bavail * bsize
    const text = `${(left / GIB).toFixed(1)} GiB are left on the disk of ${folder}.`
    const advice = 'Make room, or move files to object storage; `vireo prune-storage` finds files that nobody needs.'
    if (left < TOO_LITTLE) say.problem(text, advice)
    else if (left < LITTLE) say.warning(text, advice)
    else say.ok(text)
  }
}
