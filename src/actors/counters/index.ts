export { scheduleReconciliation, type Walk, walks } from './reconcile.ts'
