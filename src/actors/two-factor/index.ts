export { type CheckedCode, checkCode, spendCode } from './spend-code.ts'
export { makeTwoFactor, type TwoFactor } from './two-factor.commands.ts'
export type { Asker } from './two-factor.policy.ts'
