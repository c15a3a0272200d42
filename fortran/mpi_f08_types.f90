! SPDX-License-Identifier: BSD-3-Clause
! Types of MPI for Fortran 2008, which module mpi has, too.
MODULE mpi_f08_types
  IMPLICIT NONE
  PUBLIC
  TYPE, BIND(C) :: MPI_Status
    INTEGER :: MPI_SOURCE, MPI_TAG, MPI_ERROR
    INTEGER, PRIVATE :: internal(5)
  END TYPE MPI_Status
  TYPE, BIND(C) :: MPI_Comm
    INTEGER :: MPI_VAL
  END TYPE MPI_Comm
  TYPE, BIND(C) :: MPI_Datatype
    INTEGER :: MPI_VAL
  END TYPE MPI_Datatype
  TYPE, BIND(C) :: MPI_Errhandler
    INTEGER :: MPI_VAL
  END TYPE MPI_Errhandler
  TYPE, BIND(C) :: MPI_File
    INTEGER :: MPI_VAL
  END TYPE MPI_File
  TYPE, BIND(C) :: MPI_Group
    INTEGER :: MPI_VAL
  END TYPE MPI_Group
  TYPE, BIND(C) :: MPI_Info
    INTEGER :: MPI_VAL
  END TYPE MPI_Info
  TYPE, BIND(C) :: MPI_Message
    INTEGER :: MPI_VAL
  END TYPE MPI_Message
  TYPE, BIND(C) :: MPI_Op
    INTEGER :: MPI_VAL
  END TYPE MPI_Op
  TYPE, BIND(C) :: MPI_Request
    INTEGER :: MPI_VAL
  END TYPE MPI_Request
  TYPE, BIND(C) :: MPI_Session
    INTEGER :: MPI_VAL
  END TYPE MPI_Session
  TYPE, BIND(C) :: MPI_Win
    INTEGER :: MPI_VAL
  END TYPE MPI_Win
  INTERFACE OPERATOR(==)
    PURE LOGICAL FUNCTION MPI_Comm_eq(a, b)
      IMPORT
      TYPE(MPI_Comm), INTENT(IN) :: a, b
    END FUNCTION MPI_Comm_eq
    PURE LOGICAL FUNCTION MPI_Datatype_eq(a, b)
      IMPORT
      TYPE(MPI_Datatype), INTENT(IN) :: a, b
    END FUNCTION MPI_Datatype_eq
    PURE LOGICAL FUNCTION MPI_Errhandler_eq(a, b)
      IMPORT
      TYPE(MPI_Errhandler), INTENT(IN) :: a, b
    END FUNCTION MPI_Errhandler_eq
    PURE LOGICAL FUNCTION MPI_File_eq(a, b)
      IMPORT
      TYPE(MPI_File), INTENT(IN) :: a, b
    END FUNCTION MPI_File_eq
    PURE LOGICAL FUNCTION MPI_Group_eq(a, b)
      IMPORT
      TYPE(MPI_Group), INTENT(IN) :: a, b
    END FUNCTION MPI_Group_eq
    PURE LOGICAL FUNCTION MPI_Info_eq(a, b)
      IMPORT
      TYPE(MPI_Info), INTENT(IN) :: a, b
    END FUNCTION MPI_Info_eq
    PURE LOGICAL FUNCTION MPI_Message_eq(a, b)
      IMPORT
      TYPE(MPI_Message), INTENT(IN) :: a, b
    END FUNCTION MPI_Message_eq
    PURE LOGICAL FUNCTION MPI_Op_eq(a, b)
      IMPORT
      TYPE(MPI_Op), INTENT(IN) :: a, b
    END FUNCTION MPI_Op_eq
    PURE LOGICAL FUNCTION MPI_Request_eq(a, b)
      IMPORT
      TYPE(MPI_Request), INTENT(IN) :: a, b
    END FUNCTION MPI_Request_eq
    PURE LOGICAL FUNCTION MPI_Session_eq(a, b)
      IMPORT
      TYPE(MPI_Session), INTENT(IN) :: a, b
    END FUNCTION MPI_Session_eq
    PURE LOGICAL FUNCTION MPI_Win_eq(a, b)
      IMPORT
      TYPE(MPI_Win), INTENT(IN) :: a, b
    END FUNCTION MPI_Win_eq
  END INTERFACE OPERATOR(==)
  INTERFACE OPERATOR(/=)
    PURE LOGICAL FUNCTION MPI_Comm_ne(a, b)
      IMPORT
      TYPE(MPI_Comm), INTENT(IN) :: a, b
    END FUNCTION MPI_Comm_ne
    PURE LOGICAL FUNCTION MPI_Datatype_ne(a, b)
      IMPORT
      TYPE(MPI_Datatype), INTENT(IN) :: a, b
    END FUNCTION MPI_Datatype_ne
    PURE LOGICAL FUNCTION MPI_Errhandler_ne(a, b)
      IMPORT
      TYPE(MPI_Errhandler), INTENT(IN) :: a, b
    END FUNCTION MPI_Errhandler_ne
    PURE LOGICAL FUNCTION MPI_File_ne(a, b)
      IMPORT
      TYPE(MPI_File), INTENT(IN) :: a, b
    END FUNCTION MPI_File_ne
    PURE LOGICAL FUNCTION MPI_Group_ne(a, b)
      IMPORT
      TYPE(MPI_Group), INTENT(IN) :: a, b
    END FUNCTION MPI_Group_ne
    PURE LOGICAL FUNCTION MPI_Info_ne(a, b)
      IMPORT
      TYPE(MPI_Info), INTENT(IN) :: a, b
    END FUNCTION MPI_Info_ne
    PURE LOGICAL FUNCTION MPI_Message_ne(a, b)
      IMPORT
      TYPE(MPI_Message), INTENT(IN) :: a, b
    END FUNCTION MPI_Message_ne
    PURE LOGICAL FUNCTION MPI_Op_ne(a, b)
      IMPORT
      TYPE(MPI_Op), INTENT(IN) :: a, b
    END FUNCTION MPI_Op_ne
    PURE LOGICAL FUNCTION MPI_Request_ne(a, b)
      IMPORT
      TYPE(MPI_Request), INTENT(IN) :: a, b
    END FUNCTION MPI_Request_ne
    PURE LOGICAL FUNCTION MPI_Session_ne(a, b)
      IMPORT
      TYPE(MPI_Session), INTENT(IN) :: a, b
    END FUNCTION MPI_Session_ne
    PURE LOGICAL FUNCTION MPI_Win_ne(a, b)
      IMPORT
      TYPE(MPI_Win), INTENT(IN) :: a, b
    END FUNCTION MPI_Win_ne
  END INTERFACE OPERATOR(/=)
END MODULE mpi_f08_types
