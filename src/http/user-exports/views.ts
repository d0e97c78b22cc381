// Exports as clients read them.

import { z } from 'zod'
import type { UserExportRow } from '../../actors/user-export/index.ts'
import { userExportStateIds } from '../../actors/user-export/index.ts'

export const userExportView = z
  .object({
    id: z.int(),
    state: z.object({ id: z.int(), label: z.string() }),
    /** Bytes; null until the archive is complete. */
    size: z.int().nullable(),
    fileUrl: z.null(),
    /** Valid for a short time; null until the archive is complete. */
    privateDownloadUrl: z.string().nullable(),
    createdAt: z.string(),
    expiresOn: z.string(),
  })
  .meta({ id: 'UserExport' })

const LABELS = { pending: 'Pending', processing: 'Processing', completed: 'Completed', errored: 'Failed' } as const

export const toUserExportView = (
  { id, state, size, createdAt, expiresOn }: UserExportRow,
  privateDownloadUrl: string | null,
): z.infer<typeof userExportView> => ({
  id,
  state: { id: userExportStateIds[state], label: LABELS[state] },
  size,
  fileUrl: null,
  privateDownloadUrl,
  createdAt: createdAt.toISOString(),
  expiresOn: expiresOn.toISOString(),
})
