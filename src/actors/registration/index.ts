export { type Applicant, makeRegistrations, type Registrations } from './registration.commands.ts'
export { closedBy, isNetworkAllowed } from './registration.policy.ts'
export { listRegistrations, type RegistrationRow } from './registration.queries.ts'
