// Stubs of a server without external logins.

import type { ExternalLogins } from '../../src/actors/session/index.ts'

const nobody = async (): Promise<undefined> => undefined

export const noExternalLogins: ExternalLogins = {
  byPassword: nobody,
  byToken: nobody,
  again: nobody,
  isValid: async () => true,
  leave: async () => nobody,
}
