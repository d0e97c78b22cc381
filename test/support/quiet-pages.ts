// What the pages are given where a test is about those that everybody sees: nobody is logged in, and nothing is written.

import { makeVisitors } from '../../src/http/pages/visitor.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { TEST_ORIGIN } from './builders.ts'

const notHere = async (): Promise<never> => {
  throw new Error('This is not asked for here.')
}
const nothing = async (): Promise<undefined> => undefined

export const quietPages = () => ({
  visitors: makeVisitors({
    sessions: { visit: async () => null },
    secrets: makeSecrets({ secret: 'a secret for tests' }),
    origin: TEST_ORIGIN,
  }),
  facts: { recent: async () => ({ avatars: [], banners: [], users: 1, homepage: false }) },
  lookedAtActor: () => undefined,
  sessions: { login: notHere, loginByToken: notHere, end: notHere, logout: notHere },
  instance: { localClient: notHere },
  clock: systemClock,
  registrations: { assertOpen: notHere },
  updateMe: notHere,
  notifications: { markAllRead: notHere },
  userExports: { request: notHere, remove: notHere, addressOf: notHere },
  subscriptions: { subscribe: notHere, unsubscribe: notHere },
  uploads: { openArchive: notHere, receiveArchive: notHere, endArchive: notHere, cancel: notHere, quotaLeft: notHere },
  watch: notHere,
  resolvePasted: { anything: nothing },
  subscribeAddress: notHere,
})
