// What the use of each link changes. A link is made for the state of that moment and fits no other, so that using it, or
// changing the same thing in another way, spends it.

export const verifyEmailState = (user: { email: string; email_verified: boolean | null }): string =>
  JSON.stringify([user.email, user.email_verified === true])

export const newAddressState = (user: { email: string; pending_email: string | null }): string =>
  JSON.stringify([user.email, user.pending_email])

/** A mailbox that is no longer the user's opens nothing. */
export const passwordState = (user: { email: string; password_hash: string }): string => JSON.stringify([user.email, user.password_hash])

/** Only the address: following this link again is no harm, and answered as the first time. */
export const registrationState = (registration: { email: string }): string => registration.email
