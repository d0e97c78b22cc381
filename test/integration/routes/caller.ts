// The callers of a request.

export const callers = ['anonymous', 'user', 'other', 'moderator', 'admin', 'blocked'] as const
/** `user` owns the object of the request, `other` is another user, and `blocked` has the token of a blocked user. */
export type Caller = (typeof callers)[number]
