// Data about the server for every page.

import type { Config } from '../../config/index.ts'

export type Site = ReturnType<typeof siteOf>

export const siteOf = ({ instance, services, signup }: Config) => ({
  name: instance.name,
  description: instance.short_description,
  /** Such as `@name`; empty for none. */
  twitter: services.twitter.username,
  hasSignup: signup.enabled,
})
