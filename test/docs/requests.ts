import { CertificateSigningRequests, connect, isSettled } from 'kedge';

const client = await connect();
const { items } = await client.resource(CertificateSigningRequests).list();
for (const csr of items) console.log(csr.metadata.name, isSettled(csr) ? 'settled' : 'open');
client.close();
