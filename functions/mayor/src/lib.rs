//! GET /v1/mayor: the sitting mayor and the elections
