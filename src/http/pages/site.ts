// Data about the server for every page.

import type { Config } from '../../config/index.ts'

export interface Site {
  name: string
  description: string
  /** Twitter account, such as `@name`; empty for none. */
  twitter: string
  /** True if the settings allow registration. */
  hasSignup: boolean
}

export const siteOf = ({ instance, services, signup }: Config): Site => ({
  name: instance.name,
  description: instance.short_description,
  twitter: services.twitter.username,
  hasSignup: signup.enabled,
})
