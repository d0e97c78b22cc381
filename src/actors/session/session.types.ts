// Sessions, as other nouns and clients see them, and the port to the systems that users log in with elsewhere.

import type { Unit } from '../runtime/index.ts'
import type { UserRole } from '../user/user.entity.ts'
import type { TokenScope } from './token-scope.ts'

export interface Session {
  /** 0 for an application token, which belongs to no session. */
  id: number
  /** What an application token may do; null for a session, which may do everything. */
  scopes: readonly TokenScope[] | null
  user: {
    id: number
    username: string
    /** With an application token that lacks the scope `admin`: that of plain users. */
    role: UserRole
    accountId: number
    /** Row id of the account's actor. */
    actorId: number
    /** Bytes; -1 for no limit. */
    videoQuota: number
    videoQuotaDaily: number
  }
  /** The user's policy for sensitive videos in lists. */
  nsfwPolicy: string
  /** True if the user mutes accounts or servers. */
  mutes: boolean
  /** Chosen for the pages, BCP 47; null if none was. */
  language: string | null
}

/** The session of a page's viewer. */
export type Visit = Session

export interface Tokens {
  access_token: string
  refresh_token: string
  /** Seconds. */
  expires_in: number
  refresh_token_expires_in: number
}

export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

export interface PasswordLogin {
  client: ClientCredentials
  /** Or the e-mail address. */
  username: string
  password: string
  /** Code of the authenticator app, for users with two-factor login. */
  code?: string | undefined
}

export interface TokenLogin {
  client: ClientCredentials
  username: string
  externalAuthToken: string
}

/** A user who logged in with another system. */
export interface EnteredUser {
  userId: number
  identityId: number
  /** What the system is asked with again. */
  grantSealed: string
}

/** The systems that users log in with besides passwords of this server. */
export interface ExternalLogins {
  /**
   * Undefined if no system knows the user with this password. Throws `invalid` (`access_denied`) for one who may not log in here, and
   * `unavailable` if none knows and one of them cannot be asked.
   */
  byPassword(username: string, password: string): Promise<EnteredUser | undefined>
  /** Undefined for an unknown or used token, and for that of another user. */
  byToken(username: string, token: string): Promise<EnteredUser | undefined>
  /**
   * Returns the next grant; null if there is nothing to ask with any more, which says nothing about the user; undefined if the system says
   * that the user is gone, or may not log in here. Throws `unavailable` if it cannot be asked. `keep` gets the next grant as soon as it replaces
   * the one before, whatever follows.
   */
  again(identityId: number, grantSealed: string, keep: (grantSealed: string) => Promise<void>): Promise<string | null | undefined>
  /** False if the plugin of this login says that its sessions are not valid any more. */
  isValid(identityId: number): Promise<boolean>
  /**
   * Runs in the transaction in which a user logs out. What it returns is called after the commit, and returns the address at which the
   * browser logs out of the system too, if there is one; it does not throw.
   */
  leave(unit: Unit, session: EndedSession): Promise<() => Promise<string | undefined>>
}

/** A session of a login with another system that its user has ended. */
export interface EndedSession {
  id: number
  identityId: number
  /** Null if the process of an earlier version died while it asked. */
  grantSealed: string | null
}

export interface Sessions {
  /**
   * Password grant, with a password of this server or of another system. Throws `invalid` with the contract's OAuth code, and
   * `unauthenticated` (`missing_two_factor`) if only a code is missing.
   */
  login(login: PasswordLogin): Promise<Tokens>
  /** The same with a token of another system's login, which is valid once. */
  loginByToken(login: TokenLogin): Promise<Tokens>
  /** Also throws `unavailable` while the system that the user logged in with cannot be asked. */
  refresh(client: ClientCredentials, refreshToken: string): Promise<Tokens>
  /**
   * The session of an access token or an application token, cached for a second. Its end and changes of its user take effect at once in the
   * process that wrote them, and in the others when they are notified.
   */
  authenticate(accessToken: string): Promise<Session | null>
  /** The same, for pages, which accept no application tokens. */
  visit(accessToken: string): Promise<Visit | null>
  /** Which of these sessions have ended or have an expired access token: for long-lived connections. */
  ended(sessionIds: readonly number[]): Promise<number[]>
  end(sessionId: number): Promise<void>
  /** The same at the wish of its user. Returns the address at which the browser logs out of the other system too, if there is one. */
  logout(session: Session): Promise<string | undefined>
  /** The same for any session of the user. Throws `not_found`, also for a session of another user. */
  endOwn(userId: number, sessionId: number): Promise<void>
}
