// `vireo create-user` and `vireo reset-password`.

import { type UserRole, userRoles } from '../actors/user/index.ts'
import { emailAddress, localName } from '../http/users/fields.ts'
import { oneOf, parseWith, type Tools } from './family.ts'
import { operate } from './operate.ts'

type RoleName = keyof typeof userRoles
const roleNames = Object.keys(userRoles) as RoleName[]

export function userCommands({ program, load, out }: Tools): void {
  const say = (username: string, password: string): void => out.answer({ username, password }, `User password: ${password}`)

  program
    .command('create-user')
    .description('make a user, and print the password')
    .requiredOption('--username <name>', 'small letters, digits, _ . and -', parseWith(localName))
    .requiredOption('--email <address>', 'where mails to the user go', parseWith(emailAddress))
    .option('--role <role>', roleNames.join(', '), oneOf(roleNames), 'user')
    .action(async ({ username, email, role }: { username: string; email: string; role: RoleName }) => {
      const user: { username: string; email: string; role: UserRole } = { username, email, role: userRoles[role] }
      say(username, await operate(load(), (operator) => operator.createUser(user)))
    })
  program
    .command('reset-password')
    .description('give a user a new password, and print it; ends the sessions of the user')
    .requiredOption('--username <name>')
    .action(async ({ username }: { username: string }) => {
      say(username, await operate(load(), (operator) => operator.resetPassword(username)))
    })
}
