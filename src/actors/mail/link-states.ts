// The state that invalidates each link. A link is valid for the state at its creation, so that using it, or changing the same data
// otherwise, invalidates it.

export const verifyEmailState = (user: { email: string; email_verified: boolean | null }): string =>
  JSON.stringify([user.email, user.email_verified === true])

export const newAddressState = (user: { email: string; pending_email: string | null }): string =>
  JSON.stringify([user.email, user.pending_email])

/** A link to a former address is useless. */
export const passwordState = (user: { email: string; password_hash: string }): string => JSON.stringify([user.email, user.password_hash])

/** Only the address: following this link again is harmless, and gives the same response. */
export const registrationState = (registration: { email: string }): string => registration.email
