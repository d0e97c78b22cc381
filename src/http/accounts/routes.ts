// Accounts, as everybody sees them.

import { z } from 'zod'
import { findAccount } from '../../actors/account/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Area } from '../plugins/types.ts'
import { accountView, type Here, toAccountView } from '../videos/actor.view.ts'

export function accountsArea({ db, urls }: { db: Database; urls: Here }): Area {
  return (app) => {
    app.get(
      '/api/v1/accounts/:name',
      { schema: { tags: ['Accounts'], params: z.object({ name: z.string() }), response: { 200: accountView } } },
      async (request) => {
        const [name = '', host] = request.params.name.split('@')
        const isOurs = host === undefined || host.toLowerCase() === urls.host
        const account = await findAccount(db, { name, host: isOurs ? null : host })
        if (!account) throw notFound('Account not found')
        return toAccountView(account, urls)
      },
    )
  }
}
