// Stubbed dependencies of public pages: nobody is logged in, and writes throw.

import { makeVisitors } from '../../src/http/pages/visitor.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { TEST_ORIGIN } from './builders.ts'

const unexpected = async (): Promise<never> => {
  throw new Error('A public page must not call this.')
}
const nothing = async (): Promise<undefined> => undefined

export const pageStubs = () => ({
  visitors: makeVisitors({
    sessions: { visit: async () => null },
    secrets: makeSecrets({ secret: 'a secret for tests' }),
    origin: TEST_ORIGIN,
  }),
  facts: { recent: async () => ({ avatars: [], banners: [], users: 1, homepage: false }) },
  lookedAtActor: () => undefined,
  sessions: { login: unexpected, loginByToken: unexpected, end: unexpected, logout: unexpected },
  instance: { localClient: unexpected },
  clock: systemClock,
  registrations: { assertOpen: unexpected },
  updateMe: unexpected,
  notifications: { markAllRead: unexpected },
  userExports: { request: unexpected, remove: unexpected, addressOf: unexpected },
  subscriptions: { recount: unexpected },
  uploads: { openArchive: unexpected, receiveArchive: unexpected, endArchive: unexpected, cancel: unexpected, quotaLeft: unexpected },
  watch: unexpected,
  resolvePasted: { anything: nothing },
  subscribeAddress: unexpected,
})
