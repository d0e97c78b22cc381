// Blocks as REST clients read them.

import { z } from 'zod'
import type { AccountBlockRow, BlockStatusRow, ServerBlockRow } from '../../actors/moderation/index.ts'
import { accountView, type Here, toAccountView } from '../videos/actor.view.ts'

export const accountBlockView = z
  .object({ byAccount: accountView, blockedAccount: accountView, createdAt: z.iso.datetime() })
  .meta({ id: 'AccountBlock' })

export const serverBlockView = z
  .object({ byAccount: accountView, blockedServer: z.object({ host: z.string() }), createdAt: z.iso.datetime() })
  .meta({ id: 'ServerBlock' })

const status = z.object({ blockedByServer: z.boolean(), blockedByUser: z.boolean() })

export const blockStatusView = z
  .object({ accounts: z.record(z.string(), status), hosts: z.record(z.string(), status) })
  .meta({ id: 'BlockStatus' })

export const toAccountBlockView = (row: AccountBlockRow, here: Here): z.infer<typeof accountBlockView> => ({
  byAccount: toAccountView(row.owner, here),
  blockedAccount: toAccountView(row.target, here),
  createdAt: new Date(row.created_at).toISOString(),
})

export const toServerBlockView = (row: ServerBlockRow, here: Here): z.infer<typeof serverBlockView> => ({
  byAccount: toAccountView(row.owner, here),
  blockedServer: { host: row.host },
  createdAt: new Date(row.created_at).toISOString(),
})

export const toStatus = (rows: BlockStatusRow[]): Record<string, z.infer<typeof status>> =>
  Object.fromEntries(rows.map(({ asked, byServer, byUser }) => [asked, { blockedByServer: byServer, blockedByUser: byUser }]))
