// What administrators see of a job's data: ids and addresses, with nothing in them that opens a door.

import { hideSecrets } from '../../platform/hidden.ts'

export const shownData = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, typeof value === 'string' ? hideSecrets(value) : value]))
