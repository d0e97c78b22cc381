// The data of a job as shown to administrators: ids and addresses, without secrets.

import { redactSecrets } from '../../platform/redact.ts'

export const shownData = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, typeof value === 'string' ? redactSecrets(value) : value]))
