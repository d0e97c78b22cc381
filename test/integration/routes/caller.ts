// Who sends a request.

export const callers = ['anonymous', 'user', 'other', 'moderator', 'admin', 'blocked'] as const
/** `user` owns what the request is about, `other` is another user, and `blocked` has the token of a blocked user. */
export type Caller = (typeof callers)[number]
