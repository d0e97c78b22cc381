// Notifications for the staff about new users and registrations.

import { rightsOfStaff } from '../rights.ts'
import { rule } from '../rule.ts'
import { staffWith } from './staff.ts'

export const registrationRules = [
  rule({
    type: 'newUserRegistration',
    on: ['UserRegistered'],
    about: ['account_id'],
    audience: `
      select s.user_id, a.id::text as key, null::int as by_actor_id, a.id as account_id
      from account a, ${staffWith(rightsOfStaff.newUserRegistration)} s where a.user_id = $1`,
    values: ({ userId }) => [userId],
  }),

  rule({
    type: 'newUserRegistrationRequest',
    on: ['RegistrationRequested'],
    about: ['registration_id'],
    audience: `
      select s.user_id, r.id::text as key, null::int as by_actor_id, r.id as registration_id
      from registration r, ${staffWith(rightsOfStaff.newUserRegistrationRequest)} s where r.id = $1 and r.state not in ('accepted', 'rejected')`,
    values: ({ registrationId }) => [registrationId],
  }),
]
