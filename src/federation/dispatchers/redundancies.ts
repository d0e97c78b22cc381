// Local copies of remote videos, at their ids.

import { notFound } from '../../actors/runtime/index.ts'
import { copyDocument, createCopyActivity, type FoundCopy, findCopy } from '../documents/index.ts'
import type { ParsedAddress } from '../urls.ts'
import type { JsonObject } from '../wire/index.ts'
import { assertOpen } from './access.ts'
import type { DispatcherDeps } from './deps.ts'

type Deps = Pick<DispatcherDeps, 'db' | 'urls'>
type Target = Extract<ParsedAddress, { kind: 'file-redundancy' | 'playlist-redundancy' }>

export const servedCopy = async (deps: Deps, target: Target): Promise<JsonObject> => copyDocument(deps.urls, await copyAt(deps, target))

/** Its Create. */
export const copyCreation = async (deps: Deps, target: Target): Promise<JsonObject> =>
  createCopyActivity(deps.urls, await copyAt(deps, target))

async function copyAt({ db, urls }: Deps, target: Target): Promise<FoundCopy> {
  const uuid = target.uuid.toLowerCase()
  const url =
    target.kind === 'playlist-redundancy'
      ? urls.playlistRedundancy(uuid)
      : urls.fileRedundancy({
          uuid,
          resolution: Number(target.resolution),
          ...(target.fps === null ? {} : { fps: Number(target.fps) }),
        })
  const found = await findCopy(db.query, { url })
  if (!found || (found.state !== 'stored' && found.state !== 'announced')) throw notFound('Video redundancy not found')
  assertOpen(found)
  return found
}
