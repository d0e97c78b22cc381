// Watch actions of local viewers, for the servers that were notified of them.

import { notFound } from '../../actors/runtime/index.ts'
import { createWatchActivity, type FoundWatch, watchActionDocument } from '../documents/index.ts'
import type { JsonObject } from '../wire/index.ts'
import { assertOpen } from './access.ts'
import type { DispatcherDeps } from './deps.ts'

type Deps = Pick<DispatcherDeps, 'db' | 'urls'>

export const watchAction = async (deps: Deps, uuid: string): Promise<JsonObject> => (await find(deps, uuid)).document

export const watchCreation = async (deps: Deps, uuid: string): Promise<JsonObject> => createWatchActivity(deps.urls, await find(deps, uuid))

async function find({ db }: Deps, uuid: string): Promise<FoundWatch> {
  const found = await watchActionDocument(db.query, { uuid: uuid.toLowerCase() })
  if (!found) throw notFound('Local viewer not found')
  assertOpen(found)
  return found
}
