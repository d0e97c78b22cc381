// A check-up for administrators: what `vireo doctor` finds, and a test mail.

import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Area } from '../plugins/types.ts'
import { emailAddress } from '../users/fields.ts'

export const findingView = z
  .object({
    check: z.string(),
    status: z.enum(['ok', 'warning', 'problem']),
    message: z.string(),
    advice: z.string().optional(),
  })
  .meta({ id: 'Finding' })

/** What the server lacks. Sends a mail to the address, if there is one. */
export type Examine = (sendMailTo?: string) => Promise<z.infer<typeof findingView>[]>

export function checkUpArea({ examine }: { examine: Examine }): Area {
  let isRunning = false

  return (app) => {
    app.post(
      '/api/v1/vireo/check-up',
      {
        config: { right: 'MANAGE_DEBUG' },
        schema: {
          operationId: 'checkUp',
          summary: 'Look at all that the server needs, and say what to do; with an address, send a test mail there',
          tags: ['Debug'],
          body: z.object({ sendMailTo: emailAddress.optional() }),
          response: { 200: z.object({ data: z.array(findingView) }) },
        },
      },
      async ({ body: { sendMailTo } }) => {
        if (isRunning) throw new DomainError('conflict', 'A check-up is under way.')
        isRunning = true
        try {
          return { data: await examine(sendMailTo) }
        } finally {
          isRunning = false
        }
      },
    )
  }
}
