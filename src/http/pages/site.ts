// What every page says of the server itself.

import type { Config } from '../../config/index.ts'

export interface Site {
  name: string
  description: string
  /** Account at Twitter, such as `@name`; empty for none. */
  twitter: string
  /** Whether people can sign up, as far as the settings say. */
  hasSignup: boolean
}

export const siteOf = ({ instance, services, signup }: Config): Site => ({
  name: instance.name,
  description: instance.short_description,
  twitter: services.twitter.username,
  hasSignup: signup.enabled,
})
